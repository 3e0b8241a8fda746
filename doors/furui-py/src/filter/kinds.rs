use furui::filter::{self, AnyFilter};
use furui::format::Kind;
use furui::store::Window;
use furui::{HashAlgorithm, HashSpec};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass_init::PyClassInitializer;
use pyo3::types::{PyBytes, PyType};

use super::{Filter, State};
use crate::batch::hash_batch;
use crate::errors::{OrRaise, config};
use crate::options::{Made, parse};

/// Makes the class of a kind of filter: a subclass of [`Filter`] without fields of its own. `make` creates an empty
/// filter from a number of keys and a rate; `hash` is the default hash function and seed.
macro_rules! kind {
    (
        $(#[$doc:meta])*
        $name:ident, make: $make:expr, hash: $hash:expr,
        $($methods:item)*
    ) => {
        $(#[$doc])*
        #[pyclass(extends = Filter, frozen, module = "furui")]
        pub struct $name;

        #[pymethods]
        impl $name {
            /// Make an empty filter for n keys, which says yes to an unknown key with probability rate.
            ///
            /// hash: how keys are hashed, as in "xxh3:0". like: another filter or set, or the path of one, whose hash
            /// is taken. Neither: "xxh3:0", and for SplitBlockBloom "xxh64:0", the hash of Parquet.
            #[staticmethod]
            #[pyo3(signature = (n, rate, *, hash=None, like=None))]
            fn with_rate<'py>(
                py: Python<'py>,
                n: u64,
                rate: f64,
                hash: Option<&str>,
                like: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, Self>> {
                let hash = Made::read(py, hash, like)?.hash.unwrap_or($hash);
                new(py, $make(n, rate).or_raise(py)?.hashed_by(hash), Self)
            }

            $($methods)*
        }
    };
}

const XXH3: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 0 };
const XXH64: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 0 };

kind! {
    /// A Bloom filter: the least memory, 9.6 bits a key at a rate of 1 %.
    Bloom, make: filter::Bloom::with_rate, hash: XXH3,
}

kind! {
    /// A blocked Bloom filter: the fastest, one cache line a key, 10.5 bits a key at a rate of 1 %.
    BlockedBloom, make: filter::BlockedBloom::with_rate, hash: XXH3,
}

kind! {
    /// A counting Bloom filter: keys can be removed; 4 bits where a Bloom filter has one.
    CountingBloom, make: filter::CountingBloom::with_rate, hash: XXH3,
        /// Remove a key once. Return False if it is certainly not in the filter. Remove only keys that were inserted:
        /// any other removal can make the filter deny a key that it holds.
        fn remove(this: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
            this.as_super().get().remove_key(this.py(), key)
        }
}

kind! {
    /// A ringed Bloom filter: a key is found by one rotated hash, which one node can send to another.
    RingedBloom, make: filter::RingedBloom::with_rate, hash: XXH3,
}

kind! {
    /// A stable Bloom filter light, which forgets old keys so that it never gets full: a "no" is not certain. It
    /// remembers at least the last n keys, repeats included.
    StableBloomLight, make: filter::StableBloomLight::for_last, hash: XXH3,
}

kind! {
    /// A scalable Bloom filter, which grows with its keys: n is only the number that is expected. Each further part is
    /// twice as large as the one before.
    ScalableBloom, make: filter::GrowingBloom::for_keys, hash: XXH3,
}

kind! {
    /// A split-block Bloom filter, as in Apache Parquet files. Its size is a power of two.
    SplitBlockBloom, make: filter::SplitBlockBloom::for_parquet, hash: XXH64,
        /// Make a filter from the bytes of a Bloom filter in a Parquet file: its header and its bitset.
        ///
        /// A key of such a filter is the plain encoding of a value: for a string its UTF-8, for an INT64 eight bytes,
        /// for an INT32 four (number.to_bytes(4, "little", signed=True)).
        #[staticmethod]
        fn from_parquet<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, Self>> {
            let filter = filter::SplitBlockBloom::from_parquet(data).map_err(|error| config(py, error.to_string()))?;
            new(py, filter, Self)
        }

        /// Return the filter as a Parquet file has it: header and bitset. Raises ConfigError if its hash is not
        /// "xxh64:0".
        fn to_parquet<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
            let py = this.py();
            let filter = this.as_super().get().read(py).to_owned().or_raise(py)?;
            let mut bytes = vec![];
            if let AnyFilter::SplitBlock(filter) = filter {
                filter.to_parquet(&mut bytes).map_err(|error| config(py, error.to_string()))?;
            }
            Ok(PyBytes::new(py, &bytes))
        }
}

/// A quotient filter: keys can be removed, and filters of different sizes combined.
#[pyclass(extends = Filter, frozen, module = "furui")]
pub struct QuotientFilter;

#[pymethods]
impl QuotientFilter {
    /// Make an empty filter for n keys, which says yes to an unknown key with probability rate.
    ///
    /// removable: keep a copy for each time that a key is inserted, so that keys can be removed. False: one copy,
    /// which takes less room if keys are inserted again and again.
    /// hash: how keys are hashed, as in "xxh3:0", which is the default. like: another filter or set, or the path of
    /// one, whose hash is taken.
    #[staticmethod]
    #[pyo3(signature = (n, rate, *, removable=true, hash=None, like=None))]
    fn with_rate<'py>(
        py: Python<'py>,
        n: u64,
        rate: f64,
        removable: bool,
        hash: Option<&str>,
        like: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let filter = filter::QuotientFilter::with_rate(n, rate).or_raise(py)?;
        let filter = if removable { filter.counting() } else { filter };
        new(py, filter.hashed_by(Made::read(py, hash, like)?.hash.unwrap_or(XXH3)), Self)
    }

    /// Remove a key once. Return False if it is certainly not in the filter. Remove only keys that were inserted:
    /// any other removal can make the filter deny a key that it holds.
    ///
    /// Raises ConfigError if the filter is not removable.
    fn remove(this: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        this.as_super().get().remove_key(this.py(), key)
    }
}

/// A filter of the last keys, or those of the last hours: within its window a "no" is certain, and a sixteenth of it
/// later a key is forgotten. A repeat counts, so the window of its key begins anew. The time is that of the system's
/// clock; a filter from open() has the time of its last insertion.
#[pyclass(extends = Filter, frozen, module = "furui")]
pub struct WindowBloom;

#[pymethods]
impl WindowBloom {
    /// Make an empty filter of the last n keys, repeats included, which says yes to another key with probability rate.
    ///
    /// window: remember the keys of this time, as in "12h", or this many last keys (int). n is then the number of keys
    /// that are expected in the window; if more come, the filter grows, and keeps the rate.
    /// hash: how keys are hashed, as in "xxh3:0", which is the default. like: another filter or set, or the path of
    /// one, whose hash is taken.
    #[staticmethod]
    #[pyo3(signature = (n, rate, *, window=None, hash=None, like=None))]
    fn with_rate<'py>(
        py: Python<'py>,
        n: u64,
        rate: f64,
        window: Option<&Bound<'py, PyAny>>,
        hash: Option<&str>,
        like: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let filter = match window.map(|window| parse(window, str::parse::<Window>)).transpose()? {
            Some(window) => filter::WindowBloom::with_rate(window, n, rate),
            None => filter::WindowBloom::for_last(n, rate),
        };
        new(py, filter.or_raise(py)?.hashed_by(Made::read(py, hash, like)?.hash.unwrap_or(XXH3)), Self)
    }
}

/// A fuse filter: the least memory of all, 8.6 bits a key at a rate of 0.39 %, for a set that is known as a whole.
/// Nothing is added to it, removed or united later.
#[pyclass(extends = Filter, frozen, module = "furui")]
pub struct Fuse;

#[pymethods]
impl Fuse {
    /// Make a filter of the keys of a batch, which says yes to an unknown key with the largest probability 1/2**w that
    /// is at most rate.
    ///
    /// hash: how keys are hashed, as in "xxh3:0", which is the default. like: another filter or set, or the path of
    /// one, whose hash is taken. The hash of each key takes eight bytes of memory meanwhile.
    #[staticmethod]
    #[pyo3(signature = (batch, rate, *, hash=None, like=None))]
    fn from_keys<'py>(
        batch: &Bound<'py, PyAny>,
        rate: f64,
        hash: Option<&str>,
        like: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = batch.py();
        let hash = Made::read(py, hash, like)?.hash.unwrap_or(XXH3);
        let keys = hash_batch(batch, &hash.hasher(), false)?;
        let filter = py.detach(|| filter::Fuse::from_hashes(hash, keys.into_vec(), rate)).or_raise(py)?;
        new(py, filter, Self)
    }
}

/// Creates a Python object of this class for a new filter.
fn new<'py, C>(py: Python<'py>, filter: impl Into<AnyFilter>, class: C) -> PyResult<Bound<'py, C>>
where
    C: PyClass<BaseType = Filter>,
    (C, Filter): Into<PyClassInitializer<C>>,
{
    Bound::new(py, (class, Filter::from(State::Owned(Box::new(filter.into())))))
}

/// Creates a Python object for a filter, of the class of its kind, which must be `class` or a subclass of it.
pub fn wrap<'py>(class: &Bound<'py, PyType>, state: State) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let kind = state.kind();
    let filter = Filter::from(state);
    let object = match kind {
        Kind::Bloom => Bound::new(py, (Bloom, filter))?.into_any(),
        Kind::BlockedBloom => Bound::new(py, (BlockedBloom, filter))?.into_any(),
        Kind::CountingBloom => Bound::new(py, (CountingBloom, filter))?.into_any(),
        Kind::QuotientFilter => Bound::new(py, (QuotientFilter, filter))?.into_any(),
        Kind::RingedBloom => Bound::new(py, (RingedBloom, filter))?.into_any(),
        Kind::StableBloomLight => Bound::new(py, (StableBloomLight, filter))?.into_any(),
        Kind::GrowingBloom => Bound::new(py, (ScalableBloom, filter))?.into_any(),
        Kind::WindowBloom => Bound::new(py, (WindowBloom, filter))?.into_any(),
        Kind::SplitBlockBloom => Bound::new(py, (SplitBlockBloom, filter))?.into_any(),
        Kind::Fuse => Bound::new(py, (Fuse, filter))?.into_any(),
        _ => Bound::new(py, filter)?.into_any(),
    };
    if object.is_instance(class)? {
        return Ok(object);
    }
    let (found, wanted) = (object.get_type().name()?, class.name()?);
    Err(config(py, format!("this is a filter of the class {found}, not {wanted}: use furui.{found} or furui.Filter")))
}
