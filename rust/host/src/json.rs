//! As much JSON as the descriptions of an input set need.

pub enum Json {
    Null,
    Bool,
    Number(f64),
    Text(String),
    List,
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A number without a fraction that fits into 32 bits.
    pub fn count(&self) -> Option<u32> {
        match self {
            Json::Number(n) if n.fract() == 0.0 && *n >= 0.0 && *n <= u32::MAX as f64 => Some(*n as u32),
            _ => None,
        }
    }
}

pub fn parse(text: &str) -> Result<Json, String> {
    let mut p = Parser { text: text.as_bytes(), at: 0 };
    let value = p.value(0)?;
    p.blank();
    if p.at < p.text.len() {
        return Err(p.unexpected());
    }
    Ok(value)
}

/// Quotes a text, control characters included.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out + "\""
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn unexpected(&self) -> String {
        match self.text.get(self.at) {
            Some(b) => format!("unexpected {:?} at byte {}", *b as char, self.at),
            None => "it ends too early".to_string(),
        }
    }

    fn blank(&mut self) {
        while self.at < self.text.len() && b" \t\r\n".contains(&self.text[self.at]) {
            self.at += 1;
        }
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        self.blank();
        if depth > 16 {
            return Err("it is nested too deeply".to_string());
        }
        match self.text.get(self.at) {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.accept("true") || self.accept("false") => Ok(Json::Bool),
            _ if self.accept("null") => Ok(Json::Null),
            _ => Err(self.unexpected()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut fields: Vec<(String, Json)> = Vec::new();
        self.blank();
        while !self.accept("}") {
            if !fields.is_empty() && !self.accept(",") {
                return Err(self.unexpected());
            }
            self.blank();
            if self.text.get(self.at) != Some(&b'"') {
                return Err(self.unexpected());
            }
            let name = self.string()?;
            if fields.iter().any(|(known, _)| *known == name) {
                return Err(format!("the key {name:?} comes twice"));
            }
            self.blank();
            if !self.accept(":") {
                return Err(self.unexpected());
            }
            fields.push((name, self.value(depth + 1)?));
            self.blank();
        }
        Ok(Json::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut first = true;
        self.blank();
        while !self.accept("]") {
            if !first && !self.accept(",") {
                return Err(self.unexpected());
            }
            first = false;
            self.value(depth + 1)?;
            self.blank();
        }
        Ok(Json::List)
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.at < self.text.len() && b"+-.eE0123456789".contains(&self.text[self.at]) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(n) if n.is_finite() => Ok(Json::Number(n)),
            _ => Err(format!("{text:?} is not a number")),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out: Vec<u8> = Vec::new();
        loop {
            let b = *self.text.get(self.at).ok_or("a string has no end")?;
            self.at += 1;
            match b {
                b'"' => return String::from_utf8(out).map_err(|_| "a string is not UTF-8".to_string()),
                b'\\' => {
                    let c = self.escape()?;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                b if b < 0x20 => return Err("a control character in a string".to_string()),
                b => out.push(b),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let b = *self.text.get(self.at).ok_or("a string has no end")?;
        self.at += 1;
        Ok(match b {
            b'"' | b'\\' | b'/' => b as char,
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
                self.at += 4;
                // Halves of a surrogate pair have no place in any key or value here.
                digits
                    .and_then(|d| u32::from_str_radix(d, 16).ok())
                    .and_then(char::from_u32)
                    .ok_or("an escape that is no character")?
            }
            _ => return Err("an unknown escape in a string".to_string()),
        })
    }
}
