//! RocksDB as a set of 64-bit keys, through the C interface of the library installed on the system.

#![expect(unsafe_code, reason = "a C interface")]

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use super::Store;
use crate::report::Result;

/// A pointer to any object that the library creates and frees.
type Handle = *mut c_void;
/// The place where a failing call stores its error message.
type Message = *mut *mut c_char;

#[link(name = "rocksdb")]
unsafe extern "C" {
    fn rocksdb_options_create() -> Handle;
    fn rocksdb_options_destroy(options: Handle);
    fn rocksdb_options_set_create_if_missing(options: Handle, yes: u8);
    fn rocksdb_options_set_compression(options: Handle, kind: c_int);
    fn rocksdb_options_set_write_buffer_size(options: Handle, bytes: usize);
    fn rocksdb_options_set_block_based_table_factory(options: Handle, tables: Handle);
    fn rocksdb_block_based_options_create() -> Handle;
    fn rocksdb_block_based_options_destroy(tables: Handle);
    fn rocksdb_block_based_options_set_filter_policy(tables: Handle, policy: Handle);
    fn rocksdb_block_based_options_set_block_cache(tables: Handle, cache: Handle);
    fn rocksdb_filterpolicy_create_bloom_full(bits_a_key: c_double) -> Handle;
    fn rocksdb_cache_create_lru(bytes: usize) -> Handle;
    fn rocksdb_cache_destroy(cache: Handle);
    fn rocksdb_readoptions_create() -> Handle;
    fn rocksdb_readoptions_destroy(options: Handle);
    fn rocksdb_writeoptions_create() -> Handle;
    fn rocksdb_writeoptions_destroy(options: Handle);
    fn rocksdb_open(options: Handle, path: *const c_char, message: Message) -> Handle;
    fn rocksdb_close(database: Handle);
    fn rocksdb_get_pinned(database: Handle, options: Handle, key: *const u8, len: usize, message: Message) -> Handle;
    fn rocksdb_pinnableslice_destroy(slice: Handle);
    fn rocksdb_writebatch_create() -> Handle;
    fn rocksdb_writebatch_destroy(batch: Handle);
    fn rocksdb_writebatch_put(batch: Handle, key: *const u8, len: usize, value: *const u8, value_len: usize);
    fn rocksdb_write(database: Handle, options: Handle, batch: Handle, message: Message);
    fn rocksdb_flush_wal(database: Handle, sync: u8, message: Message);
    fn rocksdb_free(memory: *mut c_void);
}

/// A RocksDB database. Of the memory given, a quarter is for new keys and the rest caches blocks of files. Filters (10
/// bits a key) and indices of files are also kept in memory, as is RocksDB's default. Background threads compact, so
/// the whole process's time is to be measured.
pub(crate) struct RocksDb {
    database: Handle,
    read: Handle,
    write: Handle,
}

/// The result of `call`, or an error if it stores a message.
fn checked<T>(call: impl FnOnce(Message) -> T) -> Result<T> {
    let mut message = null_mut();
    let value = call(&raw mut message);
    if message.is_null() {
        return Ok(value);
    }
    // SAFETY: a message is a string that ends with 0, and is ours to free.
    let text = unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        rocksdb_free(message.cast());
        text
    };
    Err(format!("RocksDB: {text}").into())
}

impl RocksDb {
    pub(crate) fn create(directory: &Path, memory: u64) -> Result<Self> {
        let path = CString::new(directory.join("rocksdb").as_os_str().as_bytes())?;
        let memory = memory as usize;
        // SAFETY: each call gets handles of the types that it expects. The table options own the policy. Objects that
        // share a handle keep it alive, so our handles can be freed as soon as the database is open.
        unsafe {
            let (options, tables) = (rocksdb_options_create(), rocksdb_block_based_options_create());
            let cache = rocksdb_cache_create_lru(memory / 4 * 3);
            rocksdb_block_based_options_set_filter_policy(tables, rocksdb_filterpolicy_create_bloom_full(10.0));
            rocksdb_block_based_options_set_block_cache(tables, cache);
            rocksdb_options_set_block_based_table_factory(options, tables);
            rocksdb_options_set_create_if_missing(options, 1);
            rocksdb_options_set_compression(options, 0);
            rocksdb_options_set_write_buffer_size(options, memory / 4);
            let database = checked(|message| rocksdb_open(options, path.as_ptr(), message));
            rocksdb_cache_destroy(cache);
            rocksdb_block_based_options_destroy(tables);
            rocksdb_options_destroy(options);
            Ok(Self { database: database?, read: rocksdb_readoptions_create(), write: rocksdb_writeoptions_create() })
        }
    }

    fn contains(&self, key: [u8; 8]) -> Result<bool> {
        // SAFETY: the handles are open until `self` is dropped, the key is read during the call, and the value is ours
        // to give back.
        unsafe {
            let value =
                checked(|message| rocksdb_get_pinned(self.database, self.read, key.as_ptr(), key.len(), message))?;
            if !value.is_null() {
                rocksdb_pinnableslice_destroy(value);
            }
            Ok(!value.is_null())
        }
    }
}

impl Store for RocksDb {
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>> {
        // SAFETY: a batch copies the keys put into it. It is written while the database is open, and then freed.
        unsafe {
            let batch = rocksdb_writebatch_create();
            let fill = || -> Result<u64> {
                let mut new = 0;
                for key in keys.iter().map(|key| key.to_be_bytes()) {
                    if !self.contains(key)? {
                        rocksdb_writebatch_put(batch, key.as_ptr(), key.len(), [].as_ptr(), 0);
                        new += 1;
                    }
                }
                checked(|message| rocksdb_write(self.database, self.write, batch, message))?;
                Ok(new)
            };
            let new = fill();
            rocksdb_writebatch_destroy(batch);
            new.map(Some)
        }
    }

    fn count(&mut self, keys: &[u64]) -> Result<Option<usize>> {
        let count = keys.iter().try_fold(0, |count, key| Ok(count + usize::from(self.contains(key.to_be_bytes())?)));
        count.map(Some)
    }

    fn sync(&mut self) -> Result<()> {
        // SAFETY: the database is open.
        checked(|message| unsafe { rocksdb_flush_wal(self.database, 1, message) })
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        // SAFETY: nobody else has these handles, and no value of the database is held.
        unsafe {
            rocksdb_readoptions_destroy(self.read);
            rocksdb_writeoptions_destroy(self.write);
            rocksdb_close(self.database);
        }
    }
}
