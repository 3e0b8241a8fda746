//! The call of a command: its arguments, the keys it opens and the replies it gives. The only module that reads what
//! the server passes to a command.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

use valkey_module::raw::{self, KeyMode};

use crate::context;
use crate::rdb::Value;
use crate::refusal::Refusal;

/// The mode in which a command opens a key that it only reads.
pub const READ: KeyMode = KeyMode::READ;
/// The mode in which a command opens a key that it may change.
pub const WRITE: KeyMode = KeyMode::READ.union(KeyMode::WRITE);

/// The index of the argument that is the key of a command.
const KEY: usize = 1;

/// The server's error message for a key that has a value of another type.
const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// A function that executes a command: it reads the arguments of the call, and replies.
pub type Handler = fn(&Call<'_>) -> Result<(), Refusal>;

pub struct Call<'a> {
    context: *mut raw::RedisModuleCtx,
    arguments: &'a [*mut raw::RedisModuleString],
}

/// A key of the database that a command has opened.
pub struct Key {
    key: *mut raw::RedisModuleKey,
}

/// Runs a command. A panic becomes an error of this command, because one that left it would end the server.
pub fn run(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    handler: Handler,
) -> c_int {
    // SAFETY: the server passes `count` arguments, which live as long as the call.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, usize::try_from(count).unwrap_or(0)) };
    let call = Call { context, arguments };
    let outcome = catch_unwind(AssertUnwindSafe(|| context::within(context, || handler(&call))));
    match outcome.unwrap_or_else(|_| Err(Refusal::because("internal error: please report it with the command"))) {
        Ok(()) => {}
        Err(Refusal::Arity) => {
            // SAFETY: the context is that of the call.
            unsafe { raw::RedisModule_WrongArity.expect("Redis 7")(context) };
        }
        Err(refusal) => call.refuse(refusal),
    }
    raw::Status::Ok as c_int
}

impl<'a> Call<'a> {
    /// The number of arguments, with the name of the command.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// The bytes of the argument with this index. The argument 0 is the name of the command.
    ///
    /// # Errors
    /// [`Refusal::Arity`] if there are not so many arguments.
    pub fn bytes(&self, index: usize) -> Result<&'a [u8], Refusal> {
        self.arguments.get(index).map(|&text| bytes_of(text)).ok_or(Refusal::Arity)
    }

    /// The bytes of the arguments from the one with this index on.
    pub fn rest(&self, index: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.arguments[index.min(self.arguments.len())..].iter().map(|&text| bytes_of(text))
    }

    pub fn text(&self, index: usize) -> Result<&'a str, Refusal> {
        std::str::from_utf8(self.bytes(index)?).map_err(|_| Refusal::because(format!("argument {index} is not text")))
    }

    pub fn number<N: FromStr>(&self, index: usize, what: &str) -> Result<N, Refusal> {
        let text = self.text(index)?;
        text.parse().map_err(|_| Refusal::because(format!("{what} {text:?} is not a valid number")))
    }

    /// Reads pairs of an option's name and its value, from the argument with the index `first` on. Returns each name in
    /// upper case, and the index of the value's argument.
    pub fn options(&self, first: usize) -> impl Iterator<Item = Result<(String, usize), Refusal>> {
        (first..self.len()).step_by(2).map(|at| Ok((self.text(at)?.to_ascii_uppercase(), at + 1)))
    }

    /// Opens the key that the argument with this index names.
    ///
    /// # Errors
    /// [`Refusal::Arity`] if there are not so many arguments.
    pub fn open(&self, index: usize, mode: KeyMode) -> Result<Key, Refusal> {
        let &name = self.arguments.get(index).ok_or(Refusal::Arity)?;
        Ok(Key::open(self.context, name, mode))
    }

    /// True if the context of the call has one of these flags.
    fn has_flag(&self, flags: u32) -> bool {
        // SAFETY: the context is that of the call.
        let found = unsafe { raw::RedisModule_GetContextFlags.expect("Redis 7")(self.context) };
        found.cast_unsigned() & flags != 0
    }

    /// Checks that the command comes from a master, an AOF file, or a node that moves slots here.
    ///
    /// # Errors
    /// If a client sends it.
    pub fn check_repeated(&self) -> Result<(), Refusal> {
        match context::is_repeated() {
            true => Ok(()),
            false => Err(Refusal::because("this command is for servers: only a master sends it to its replicas")),
        }
    }

    /// Replicates the command with its original name and arguments: it has changed the key.
    pub fn replicate(&self) {
        self.touch();
        raw::replicate_verbatim(self.context);
    }

    /// Tells clients that watch the key of this call, or keep its value, that it has changed.
    fn touch(&self) {
        if let Some(&key) = self.arguments.get(KEY) {
            // SAFETY: the context and the key are those of the call.
            unsafe { raw::RedisModule_SignalModifiedKey.expect("Redis 7")(self.context, key) };
        }
    }

    /// Replicates a command with the key of this call, a time in milliseconds, and the other arguments of this call.
    /// Replicas then use the same time.
    pub fn replicate_at(&self, command: &CStr, time: u64) {
        let time = time.to_string();
        let arguments: Vec<&[u8]> = std::iter::once(time.as_bytes()).chain(self.rest(2)).collect();
        self.replicate_as(command, &arguments);
    }

    /// Replicates the command with its original name and its arguments before the one with the index `first`, and with
    /// these instead of the others.
    pub fn replicate_taken(&self, first: usize, taken: &[&[u8]]) {
        let name = CString::new(self.rest(0).next().unwrap_or_default()).unwrap_or_default();
        let before = self.rest(KEY + 1).take(first.saturating_sub(KEY + 1));
        let arguments: Vec<&[u8]> = before.chain(taken.iter().copied()).collect();
        self.replicate_as(&name, &arguments);
    }

    /// Replicates another command: its name, then the key of this call, then other arguments.
    pub fn replicate_as(&self, command: &CStr, arguments: &[&[u8]]) {
        let Some(&key) = self.arguments.get(KEY) else { return };
        self.touch();
        let mut texts: Vec<*mut raw::RedisModuleString> = vec![key];
        // SAFETY: the context is that of the call, and the pointers and lengths are those of slices.
        texts.extend(arguments.iter().map(|text| unsafe {
            raw::RedisModule_CreateString.expect("Redis 7")(self.context, text.as_ptr().cast::<c_char>(), text.len())
        }));
        // SAFETY: "v" announces an array of strings and their number.
        unsafe {
            raw::RedisModule_Replicate.expect("Redis 7")(
                self.context,
                command.as_ptr(),
                c"v".as_ptr(),
                texts.as_mut_ptr(),
                texts.len(),
            );
        }
        for &text in &texts[1..] {
            // SAFETY: the string was made above, and the server keeps its own copy.
            unsafe { raw::RedisModule_FreeString.expect("Redis 7")(self.context, text) };
        }
    }

    /// Publishes a keyspace event: the key of this call has changed.
    pub fn notify(&self, event: &CStr) {
        if let Some(&key) = self.arguments.get(KEY) {
            let kind = raw::NotifyEvent::MODULE.bits();
            // SAFETY: the context and the key are those of the call.
            unsafe { raw::RedisModule_NotifyKeyspaceEvent.expect("Redis 7")(self.context, kind, event.as_ptr(), key) };
        }
    }

    /// Replies with a number, or with the largest 64-bit integer if the number is larger.
    pub fn integer(&self, number: impl TryInto<i64>) {
        raw::reply_with_long_long(self.context, number.try_into().unwrap_or(i64::MAX));
    }

    /// Replies with an array of numbers.
    pub fn integers<N: TryInto<i64>>(&self, numbers: impl ExactSizeIterator<Item = N>) {
        self.array(numbers.len());
        numbers.for_each(|number| self.integer(number));
    }

    /// Inserts the items from argument `first` on, and replies for each item whether it is new, or why it has no room.
    /// Returns true if at least one item is new.
    pub fn insert_each(&self, first: usize, mut insert: impl FnMut(&[u8]) -> Result<bool, Refusal>) -> bool {
        let mut changed = false;
        self.array(self.rest(first).len());
        for item in self.rest(first) {
            match insert(item) {
                Ok(is_new) => {
                    self.integer(is_new);
                    changed |= is_new;
                }
                Err(refusal) => self.refuse(refusal),
            }
        }
        changed
    }

    /// Replies with yes or no: a number, or a boolean for clients of RESP3.
    pub fn boolean(&self, yes: bool) {
        raw::reply_with_bool(self.context, yes.into());
    }

    /// Begins a reply that is an array of `length` elements. The elements follow as replies.
    pub fn array(&self, length: usize) {
        raw::reply_with_array(self.context, length as i64);
    }

    /// Begins a reply of `length` pairs of name and value, which follow as replies. It is an array, or a map for
    /// clients of RESP3.
    pub fn map(&self, length: usize) {
        // SAFETY: the context is that of the call.
        unsafe { raw::RedisModule_ReplyWithMap.expect("Redis 7")(self.context, length as c_long) };
    }

    /// True if the client speaks RESP3.
    pub fn is_resp3(&self) -> bool {
        self.has_flag(raw::REDISMODULE_CTX_FLAGS_RESP3)
    }

    /// Replies with a simple string.
    pub fn word(&self, word: &CStr) {
        raw::reply_with_simple_string(self.context, word.as_ptr());
    }

    pub fn bulk(&self, bytes: &[u8]) {
        raw::reply_with_string_buffer(self.context, bytes.as_ptr().cast::<c_char>(), bytes.len());
    }

    pub fn null(&self) {
        raw::reply_with_null(self.context);
    }

    /// Replies with an error that has the reason of a refusal. It may be an element of an array.
    pub fn refuse(&self, refusal: Refusal) {
        match refusal {
            Refusal::Arity => self.error("ERR wrong number of arguments"),
            Refusal::WrongType => self.error(WRONG_TYPE),
            Refusal::Because(reason) => self.error(&format!("ERR {reason}")),
        }
    }

    pub fn ok(&self) {
        self.word(c"OK");
    }

    /// Replies with an error. Zero bytes and line breaks, which an error cannot have, become spaces.
    fn error(&self, text: &str) {
        let text: Vec<u8> =
            text.bytes().map(|byte| if matches!(byte, 0 | b'\r' | b'\n') { b' ' } else { byte }).collect();
        let text = CString::new(text).unwrap_or_default();
        raw::reply_with_error(self.context, text.as_ptr());
    }

    /// The time of the server's clock, in milliseconds since 1970.
    pub fn now(&self) -> u64 {
        // SAFETY: the function has no preconditions.
        let now = unsafe { raw::RedisModule_Milliseconds.expect("Redis 7")() };
        u64::try_from(now).unwrap_or(0)
    }
}

impl Key {
    /// Opens a key of the database in which this context is.
    pub fn open(context: *mut raw::RedisModuleCtx, name: *mut raw::RedisModuleString, mode: KeyMode) -> Self {
        Self { key: raw::open_key(context, name, mode) }
    }

    /// True if the key does not exist.
    pub fn is_empty(&self) -> bool {
        // SAFETY: the key is open.
        let kind: raw::KeyType = unsafe { raw::RedisModule_KeyType.expect("Redis 7")(self.key) }.into();
        kind == raw::KeyType::Empty
    }

    /// The value of the key, for reading. `None` if the key does not exist.
    ///
    /// # Errors
    /// [`Refusal::WrongType`] if the value is of another type.
    pub fn value<V: Value>(&self) -> Result<Option<&V>, Refusal> {
        // SAFETY: the pointer is null, or one to a value that lives as long as the key is open. Nobody changes it: a
        // command has only this key, or has opened all of its keys to read.
        Ok(unsafe { self.pointer::<V>()?.as_ref() })
    }

    /// The value of the key, for changes. `None` if the key does not exist.
    ///
    /// # Errors
    /// [`Refusal::WrongType`] if the value is of another type.
    pub fn value_mut<V: Value>(&mut self) -> Result<Option<&mut V>, Refusal> {
        // SAFETY: the pointer is null, or one to a value that lives as long as the key is open. Nobody else has it: the
        // server runs one command at a time.
        Ok(unsafe { self.pointer::<V>()?.as_mut() })
    }

    fn pointer<V: Value>(&self) -> Result<*mut V, Refusal> {
        if self.is_empty() {
            return Ok(std::ptr::null_mut());
        }
        // SAFETY: the key is open. Values of the type are boxes of `V`, by `set` and by its `rdb_load`.
        unsafe {
            if raw::RedisModule_ModuleTypeGetType.expect("Redis 7")(self.key) != *V::TYPE.raw_type.borrow() {
                return Err(Refusal::WrongType);
            }
            Ok(raw::RedisModule_ModuleTypeGetValue.expect("Redis 7")(self.key).cast())
        }
    }

    /// Checks that the key does not exist.
    ///
    /// # Errors
    /// [`Refusal::WrongType`] if the key has a value of another type; another refusal if it has a value of this type.
    pub fn check_vacant<V: Value>(&self) -> Result<(), Refusal> {
        match self.value::<V>()? {
            Some(_) => Err(Refusal::because("the key exists already")),
            None => Ok(()),
        }
    }

    /// Returns the result of `read` for the value of the key. `None` if there is no value of this type.
    pub fn read<V: Value, T>(&self, read: impl FnOnce(&V) -> T) -> Option<T> {
        self.value().ok().flatten().map(read)
    }

    pub fn set<V: Value>(&mut self, value: V) -> &mut V {
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the key is open for writing, and the type frees its values as boxes of `V`.
        unsafe {
            let kind = *V::TYPE.raw_type.borrow();
            raw::RedisModule_ModuleTypeSetValue.expect("Redis 7")(self.key, kind, value.cast::<c_void>());
            &mut *value
        }
    }

    /// Removes the key and its value from the database.
    pub fn remove(&mut self) {
        // SAFETY: the key is open for writing.
        unsafe { raw::RedisModule_DeleteKey.expect("Redis 7")(self.key) };
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        raw::close_key(self.key);
    }
}

/// The bytes of an argument of the call, which the server owns.
fn bytes_of<'a>(text: *mut raw::RedisModuleString) -> &'a [u8] {
    let mut length = 0;
    let bytes = raw::string_ptr_len(text, &mut length);
    // SAFETY: the string lives as long as the call, whose arguments alone are passed here, and nobody changes it.
    unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }
}
