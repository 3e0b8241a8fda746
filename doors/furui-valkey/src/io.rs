//! Reading and writing the values of keys in RDB files, and as commands in AOF files.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{CStr, c_char, c_int};

use valkey_module::raw;

use crate::refusal::Refusal;

/// The maximum length of a piece of a file in bytes. Longer arguments are slow to move, and the protocol limits them.
pub const PIECE: usize = 16 << 20;

/// The destination of a value that is written to an RDB file.
pub struct Out(pub *mut raw::RedisModuleIO);

/// The source of a value that is read from an RDB file.
pub struct In(pub *mut raw::RedisModuleIO);

/// The destination of a value that is written to an AOF file, as commands.
pub struct Commands {
    pub io: *mut raw::RedisModuleIO,
    pub key: *mut raw::RedisModuleString,
}

/// Tells the server what this module can do, which the server does not do with one that cannot. A server ignores
/// options that it does not know.
pub fn declare(context: *mut raw::RedisModuleCtx) {
    let options = HANDLE_IO_ERRORS | NO_IMPLICIT_SIGNAL_MODIFIED | HANDLE_REPL_ASYNC_LOAD | HANDLE_SLOT_MIGRATION;
    // SAFETY: the context is that of the module's start.
    unsafe { raw::RedisModule_SetModuleOptions.expect("Redis 7")(context, options) };
}

/// A truncated payload is an error. Without this option the server ends when it loads one.
const HANDLE_IO_ERRORS: c_int = 1 << 0;
/// The module says itself which commands have changed their key.
const NO_IMPLICIT_SIGNAL_MODIFIED: c_int = 1 << 1;
/// A replica may load a new data set while it serves the old one: no value knows the database in which it is.
const HANDLE_REPL_ASYNC_LOAD: c_int = 1 << 2;
/// Slots may move to another node atomically (Valkey 9): commands that are sent for that are never refused.
const HANDLE_SLOT_MIGRATION: c_int = 1 << 5;

impl Out {
    pub fn number(&mut self, number: u64) {
        raw::save_unsigned(self.0, number);
    }

    /// Writes the length of `bytes`, and then the bytes in pieces.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        bytes.chunks(PIECE).for_each(|piece| raw::save_slice(self.0, piece));
    }
}

impl In {
    pub fn number(&mut self) -> Result<u64, Refusal> {
        let number = raw::load_unsigned(self.0).map_err(|_| cut_off())?;
        if raw::is_io_error(self.0) { Err(cut_off()) } else { Ok(number) }
    }

    /// Reads what [`Out::bytes`] has written. Memory grows with the bytes that are read, not with the length that is
    /// claimed.
    pub fn bytes(&mut self) -> Result<Vec<u8>, Refusal> {
        let length = usize::try_from(self.number()?).map_err(|_| cut_off())?;
        let mut bytes = vec![];
        while bytes.len() < length {
            let piece = raw::load_string_buffer(self.0).map_err(|_| cut_off())?;
            let piece = piece.as_ref();
            if piece.is_empty() || piece.len() > length - bytes.len() {
                return Err(cut_off());
            }
            bytes.extend_from_slice(piece);
        }
        Ok(bytes)
    }
}

fn cut_off() -> Refusal {
    Refusal::because("the value is cut off or damaged")
}

impl Commands {
    /// Writes a command: its name, the key, and other arguments.
    pub fn command(&mut self, name: &CStr, arguments: &[&[u8]]) {
        // SAFETY: "s" announces a string of the server, and each "b" a pointer and a length; the commands of this
        // module have at most four arguments after the key.
        unsafe {
            let emit = raw::RedisModule_EmitAOF.expect("Redis 7");
            let part = |i: usize| (arguments[i].as_ptr().cast::<c_char>(), arguments[i].len());
            let (io, name, key) = (self.io, name.as_ptr(), self.key);
            match arguments.len() {
                0 => emit(io, name, c"s".as_ptr(), key),
                1 => emit(io, name, c"sb".as_ptr(), key, part(0).0, part(0).1),
                2 => emit(io, name, c"sbb".as_ptr(), key, part(0).0, part(0).1, part(1).0, part(1).1),
                3 => {
                    let (a, b, c) = (part(0), part(1), part(2));
                    emit(io, name, c"sbbb".as_ptr(), key, a.0, a.1, b.0, b.1, c.0, c.1);
                }
                _ => {
                    let (a, b, c, d) = (part(0), part(1), part(2), part(3));
                    emit(io, name, c"sbbbb".as_ptr(), key, a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1);
                }
            }
        }
    }
}
