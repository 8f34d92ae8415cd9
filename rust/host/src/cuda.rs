//! The CUDA driver, loaded at run time: as many of its functions as are needed.

use std::env;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

#[link(name = "dl")]
extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const RTLD_NOW: c_int = 2;

type Handle = *mut c_void;

/// functions! declares a table of driver functions and how each is found.
macro_rules! functions {
    ($($field:ident = $symbol:literal ($($kind:ty),*);)*) => {
        pub struct Driver { $($field: unsafe extern "C" fn($($kind),*) -> c_int,)* }

        impl Driver {
            unsafe fn find(library: Handle) -> Result<Driver, String> {
                Ok(Driver {
                    $($field: std::mem::transmute::<Handle, unsafe extern "C" fn($($kind),*) -> c_int>(
                        symbol(library, $symbol)?),)*
                })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    error_name = "cuGetErrorName" (c_int, *mut *const c_char);
    driver_version = "cuDriverGetVersion" (*mut c_int);
    device_get = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    context_retain = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    context_set = "cuCtxSetCurrent" (Handle);
    alloc = "cuMemAlloc_v2" (*mut u64, usize);
    upload = "cuMemcpyHtoD_v2" (u64, *const c_void, usize);
    download = "cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
    fill = "cuMemsetD8_v2" (u64, u8, usize);
    load = "cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *mut c_int, *mut Handle);
    function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    stream_create = "cuStreamCreate" (*mut Handle, c_uint);
    stream_wait = "cuStreamSynchronize" (Handle);
    launch = "cuLaunchKernel" (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle);
    event_create = "cuEventCreate" (*mut Handle, c_uint);
    event_record = "cuEventRecord" (Handle, Handle);
    event_wait = "cuEventSynchronize" (Handle);
    event_elapsed = "cuEventElapsedTime" (*mut f32, Handle, Handle);
    capture_begin = "cuStreamBeginCapture_v2" (Handle, c_int);
    capture_end = "cuStreamEndCapture" (Handle, *mut Handle);
    graph_instantiate = "cuGraphInstantiateWithFlags" (*mut Handle, Handle, u64);
    graph_launch = "cuGraphLaunch" (Handle, Handle);
    profiler_start = "cuProfilerStart" ();
    profiler_stop = "cuProfilerStop" ();
}

unsafe fn symbol(library: Handle, name: &str) -> Result<Handle, String> {
    let text = CString::new(name).unwrap();
    let found = dlsym(library, text.as_ptr());
    if found.is_null() {
        return Err(format!("the CUDA driver has no {name}: it is too old"));
    }
    Ok(found)
}

impl Driver {
    /// Loads libcuda.so.1, or what MAGE_LIBCUDA names.
    pub fn open() -> Result<Driver, String> {
        let name = env::var("MAGE_LIBCUDA").unwrap_or_else(|_| "libcuda.so.1".to_string());
        let path = CString::new(name.clone()).map_err(|_| "MAGE_LIBCUDA holds a zero byte".to_string())?;
        unsafe {
            let library = dlopen(path.as_ptr(), RTLD_NOW);
            if library.is_null() {
                let why = dlerror();
                let why =
                    if why.is_null() { name } else { CStr::from_ptr(why).to_string_lossy().into_owned() };
                return Err(format!("no CUDA driver: {why}"));
            }
            Driver::find(library)
        }
    }

    /// Opens the first visible device; its context is the process's until it ends.
    pub fn first_device(&self) -> Result<Device<'_>, String> {
        unsafe {
            let (mut ordinal, mut version) = (0, 0);
            self.check("cuInit", (self.init)(0))?;
            self.check("cuDriverGetVersion", (self.driver_version)(&mut version))?;
            self.check("cuDeviceGet", (self.device_get)(&mut ordinal, 0))?;
            let mut name = [0 as c_char; 256];
            self.check("cuDeviceGetName", (self.device_name)(name.as_mut_ptr(), 255, ordinal))?;
            let mut context = null_mut();
            self.check("cuDevicePrimaryCtxRetain", (self.context_retain)(&mut context, ordinal))?;
            self.check("cuCtxSetCurrent", (self.context_set)(context))?;
            let mut stream = null_mut();
            self.check("cuStreamCreate", (self.stream_create)(&mut stream, 1))?; // not the legacy stream
            Ok(Device {
                driver: self,
                stream,
                name: CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned(),
                driver_version: format!("{}.{}", version / 1000, version % 1000 / 10),
            })
        }
    }

    fn check(&self, call: &str, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        let mut name = null();
        unsafe {
            if (self.error_name)(code, &mut name) != 0 || name.is_null() {
                return Err(format!("CUDA error {code} ({call})"));
            }
            Err(format!("{} ({call})", CStr::from_ptr(name).to_string_lossy()))
        }
    }
}

/// A device with one stream. Nothing is freed: the process ends after one run.
pub struct Device<'a> {
    driver: &'a Driver,
    stream: Handle,
    pub name: String,
    pub driver_version: String,
}

/// A kernel with its arguments, ready to be submitted again and again.
pub struct Launch {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    values: Vec<u64>,
}

pub struct Graph(Handle);

pub struct Event(Handle);

impl Device<'_> {
    /// Allocates; a buffer without elements has an address all the same.
    pub fn alloc(&self, bytes: usize) -> Result<u64, String> {
        let mut address = 0;
        self.driver.check("cuMemAlloc", unsafe { (self.driver.alloc)(&mut address, bytes.max(4)) })?;
        Ok(address)
    }

    pub fn upload(&self, address: u64, data: &[u8]) -> Result<(), String> {
        if data.is_empty() {
            return Ok(());
        }
        let code = unsafe { (self.driver.upload)(address, data.as_ptr() as *const c_void, data.len()) };
        self.driver.check("cuMemcpyHtoD", code)
    }

    pub fn download(&self, address: u64, data: &mut [u8]) -> Result<(), String> {
        let code = unsafe { (self.driver.download)(data.as_mut_ptr() as *mut c_void, address, data.len()) };
        self.driver.check("cuMemcpyDtoH", code)
    }

    pub fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), String> {
        self.driver.check("cuMemsetD8", unsafe { (self.driver.fill)(address, value, bytes) })
    }

    /// Compiles PTX and binds an entry to its arguments, each of at most 8 bytes.
    pub fn bind(
        &self,
        ptx: &str,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        values: Vec<u64>,
    ) -> Result<Launch, String> {
        let text = CString::new(ptx).map_err(|_| "the PTX holds a zero byte".to_string())?;
        let name = CString::new(entry).unwrap();
        let (mut module, mut function) = (null_mut(), null_mut());
        unsafe {
            let code =
                (self.driver.load)(&mut module, text.as_ptr() as *const c_void, 0, null_mut(), null_mut());
            self.driver.check("cuModuleLoadDataEx", code)?;
            self.driver
                .check("cuModuleGetFunction", (self.driver.function)(&mut function, module, name.as_ptr()))?;
        }
        Ok(Launch { function, grid, block, values })
    }

    /// Queues the kernel once and waits for nothing.
    pub fn submit(&self, launch: &mut Launch) -> Result<(), String> {
        let mut pointers = [null_mut(); 16];
        for (pointer, value) in pointers.iter_mut().zip(&mut launch.values) {
            *pointer = value as *mut u64 as Handle;
        }
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let code = unsafe {
            (self.driver.launch)(
                launch.function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                0,
                self.stream,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        self.driver.check("cuLaunchKernel", code)
    }

    pub fn wait(&self) -> Result<(), String> {
        self.driver.check("cuStreamSynchronize", unsafe { (self.driver.stream_wait)(self.stream) })
    }

    /// Records what f submits and makes a graph of it.
    pub fn capture(&self, mut f: impl FnMut() -> Result<(), String>) -> Result<Graph, String> {
        let (mut template, mut graph) = (null_mut(), null_mut());
        unsafe {
            let thread_local = 1;
            self.driver
                .check("cuStreamBeginCapture", (self.driver.capture_begin)(self.stream, thread_local))?;
            f()?;
            self.driver.check("cuStreamEndCapture", (self.driver.capture_end)(self.stream, &mut template))?;
            self.driver
                .check("cuGraphInstantiate", (self.driver.graph_instantiate)(&mut graph, template, 0))?;
        }
        Ok(Graph(graph))
    }

    pub fn replay(&self, graph: &Graph) -> Result<(), String> {
        self.driver.check("cuGraphLaunch", unsafe { (self.driver.graph_launch)(graph.0, self.stream) })
    }

    pub fn event(&self) -> Result<Event, String> {
        let mut event = null_mut();
        self.driver.check("cuEventCreate", unsafe { (self.driver.event_create)(&mut event, 0) })?;
        Ok(Event(event))
    }

    pub fn record(&self, event: &Event) -> Result<(), String> {
        self.driver.check("cuEventRecord", unsafe { (self.driver.event_record)(event.0, self.stream) })
    }

    /// Waits for the second event and returns microseconds since the first.
    pub fn elapsed(&self, start: &Event, end: &Event) -> Result<f64, String> {
        let mut ms = 0.0;
        unsafe {
            self.driver.check("cuEventSynchronize", (self.driver.event_wait)(end.0))?;
            self.driver.check("cuEventElapsedTime", (self.driver.event_elapsed)(&mut ms, start.0, end.0))?;
        }
        Ok(ms as f64 * 1e3)
    }

    pub fn profiler(&self, on: bool) -> Result<(), String> {
        let driver = self.driver;
        let code = unsafe {
            if on {
                (driver.profiler_start)()
            } else {
                (driver.profiler_stop)()
            }
        };
        driver.check("cuProfilerStart/Stop", code)
    }
}
