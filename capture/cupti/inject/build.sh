#!/bin/sh
# Builds linux_amd64.so from inject.c with its headers and records all in inject.sums.
#
#   capture/cupti/inject/build.sh          build
#   capture/cupti/inject/build.sh --check  fail if the library is not that source's: by a
#                                   rebuild where the compiler is the recorded one,
#                                   by the recorded hashes elsewhere
#
# No libc is linked, so the library has undefined symbols without glibc's version
# tags: any glibc resolves them to the oldest version that it has, and the result
# does not depend on the machine that builds. Empty stand-ins give it the names of
# the libraries that had dlopen and pthread_create before glibc 2.34.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C
CC=${CC:-gcc}
compiler=$($CC --version 2>/dev/null | head -1) || compiler="no $CC"
linker=$(ld --version 2>/dev/null | head -1) || linker="no ld"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
	for name in libc.so.6 libdl.so.2 libpthread.so.0; do
		$CC -shared -nostdlib -x c /dev/null -Wl,-soname,$name -o "$work/$name"
	done
	$CC -std=gnu11 -Os -Wall -Wextra -Werror -fPIC -fvisibility=hidden -ffile-prefix-map="$PWD=." \
		-fno-stack-protector -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none -U_FORTIFY_SOURCE \
		-shared -nostdlib -s -Wl,--no-as-needed -Wl,--build-id=none -Wl,--hash-style=gnu -Wl,-soname,mage-cupti.so \
		-Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack -Wl,-z,separate-code \
		-o "$work/inject.so" inject.c "$work/libc.so.6" "$work/libdl.so.2" "$work/libpthread.so.0"
	strip -s -R .comment -R .note.gnu.property "$work/inject.so"
}

sums() {
	sha256sum build.sh cupti.h inject.c linux_amd64.so output.h records.h
	printf 'compiler %s\nlinker %s\n' "$compiler" "$linker"
}

case "${1:-}" in
"")
	build
	cp "$work/inject.so" linux_amd64.so
	chmod 644 linux_amd64.so
	sums >inject.sums
	;;
--check)
	grep -v '^\(compiler\|linker\) ' inject.sums | sha256sum --check --quiet -
	if ! grep -qxF "compiler $compiler" inject.sums || ! grep -qxF "linker $linker" inject.sums; then
		echo "not rebuilt ($compiler, $linker): linux_amd64.so is checked by its hashes alone"
		exit 0
	fi
	build
	cmp "$work/inject.so" linux_amd64.so
	echo "linux_amd64.so is what $compiler makes of inject.c"
	;;
*)
	echo "usage: $0 [--check]" >&2
	exit 2
	;;
esac
