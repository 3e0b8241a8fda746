use std::sync::Arc;

use super::Dict;
use crate::dict::layer::{BufferLayer, Layer};
use crate::dict::values::ValueBuffer;
use crate::dict::{DictValue, Found, MAX_KEY, WriteBuffer};
use crate::error::{Error, Result};
use crate::filter::ConfigError;
use crate::hash::KeyHash;
use crate::store::{Purpose, Storage, StoreKind};

impl<S: Storage, V: DictValue + ?Sized> Dict<S, V> {
    /// True if putting `keys` more keys, of `bytes` bytes in total, may make the calling thread freeze a window (a full
    /// write buffer) into a trie, because the job that freezes it is not done yet. A caller that wants to avoid this
    /// work waits for the thread that runs the job.
    pub fn will_freeze(&self, keys: usize, bytes: usize) -> bool {
        let (kept, window_bytes, crowded) = self.window_size();
        let bytes = window_bytes + bytes + keys * (WriteBuffer::KEY_BYTES + ValueBuffer::VALUE_BYTES);
        let is_full = kept + keys > self.options.window || bytes > self.options.window_bytes;
        self.waiting > 0 && (is_full || crowded)
    }

    /// Puts a key into the current window (the write buffer). If the dictionary gives numbers to its keys, the number
    /// in `found` is recorded as taken, so that it is never given again. If values are byte strings, `found` has the id
    /// of the value, and `value` its bytes.
    ///
    /// # Errors
    /// [`Error::Config`] if the key is longer than [`MAX_KEY`]; [`Error::NoMemory`]; those of freezing full windows;
    /// [`Error::Store`] after a failed write.
    pub(super) fn write(&mut self, key: &[u8], hash: KeyHash, found: Found, value: Option<&[u8]>) -> Result<()> {
        self.check_usable()?;
        if key.len() > MAX_KEY {
            let (given, most) = (key.len() as u64, MAX_KEY as u64);
            return Err(ConfigError::OutOfRange { what: "bytes of a key", given, least: 0, most }.into());
        }
        if self.window_is_full(key.len() + value.map_or(0, <[u8]>::len)) {
            // No thread has taken the job of freezing the previous window (write buffer).
            self.freeze(self.waiting)?;
            self.waiting = self.windows_len();
        }
        let number = found.value().filter(|_| self.manifest.store == StoreKind::Dict(Purpose::Numbers));
        let window = self.window();
        window
            .buffer
            .reserve(key.len())
            .map_err(|_| Error::NoMemory { what: "new keys of a dictionary", bytes: window.buffer.bytes() })?;
        if let (Some(value), Found::Value(id)) = (value, found) {
            window
                .values
                .reserve(value.len())
                .map_err(|_| Error::NoMemory { what: "new values of a dictionary", bytes: window.values.bytes() })?;
            window.values.push(id, value);
        }
        window.buffer.put(key, hash, found);
        if let Some(number) = number {
            window.taken.insert(number..=number);
            self.taken.insert(number..=number);
        }
        Ok(())
    }

    /// True if the current window (write buffer) has no room for a key and a value that together have this length.
    fn window_is_full(&self, length: usize) -> bool {
        let (keys, bytes, crowded) = self.window_size();
        crowded || keys >= self.options.window || keys > 0 && bytes + length > self.options.window_bytes
    }

    /// Returns three parts: the number of keys in the windows (write buffers) that are not yet full, the size of these
    /// windows in bytes, and true if a probe sequence in the hash table of one of them is so long that the window must
    /// be frozen early. Probe sequences are that long only if an adversary chooses the keys.
    fn window_size(&self) -> (usize, usize, bool) {
        let windows = self.state.layers[self.tries_len() + self.waiting..].iter();
        windows.fold((0, 0, false), |(keys, bytes, crowded), layer| match layer {
            Layer::Buffer(window) => {
                let buffer = &window.buffer;
                (keys + buffer.len(), bytes + buffer.bytes() + window.values.bytes(), crowded || buffer.is_crowded())
            }
            Layer::Trie(_) => (keys, bytes, crowded),
        })
    }

    /// Returns the window (write buffer) that receives the next key. A new window is begun if there is none, or if a
    /// snapshot shares the last one.
    fn window(&mut self) -> &mut BufferLayer {
        let first = self.tries_len() + self.waiting;
        let layers = &mut self.state.layers;
        // No new snapshot can take the window (the write buffer) while `self` is borrowed mutably.
        let free = matches!(&layers[first..], [.., Layer::Buffer(window)] if Arc::strong_count(window) == 1);
        if !free {
            coalesce(layers, first);
            layers.push(Layer::Buffer(Arc::default()));
        }
        match layers.last_mut() {
            Some(Layer::Buffer(window)) => Arc::get_mut(window).expect("a window that nobody else holds"),
            _ => unreachable!("the last layer is a window"),
        }
    }
}

/// Joins windows (write buffers), from the layer `first` on, until each has more than twice as many keys as the next
/// one. Then there are few windows, and each key was copied a logarithmic number of times. A window that a snapshot
/// shares is copied before it is changed. A crowded window, whose hash table has a very long probe sequence, is not
/// joined.
fn coalesce(layers: &mut Vec<Layer>, first: usize) {
    while let [.., Layer::Buffer(older), Layer::Buffer(newer)] = &layers[first..]
        && older.buffer.len() <= 2 * newer.buffer.len()
        && !older.buffer.is_crowded()
        && !newer.buffer.is_crowded()
    {
        let (Some(Layer::Buffer(newer)), Some(Layer::Buffer(older))) = (layers.pop(), layers.pop()) else {
            return;
        };
        let mut both = Arc::unwrap_or_clone(older);
        add(&mut both.buffer, &newer.buffer);
        both.values.append(&newer.values);
        both.taken.extend(&newer.taken);
        layers.push(Layer::Buffer(Arc::new(both)));
    }
}

fn add(buffer: &mut WriteBuffer, newer: &WriteBuffer) {
    for record in newer.arrivals() {
        buffer.put(record.key, record.hash, record.found);
    }
}
