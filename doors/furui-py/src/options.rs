//! Arguments that several classes take: sizes, hashes, windows.

use std::num::NonZeroU64;
use std::path::PathBuf;

use furui::filter::CheckedFilter;
use furui::store::{Directory, Window};
use furui::{HashAlgorithm, HashSpec, KeyForm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::errors::{OrRaise, config};

const ALGORITHMS: [HashAlgorithm; 5] =
    [HashAlgorithm::Xxh3, HashAlgorithm::SipHash13, HashAlgorithm::Xxh64, HashAlgorithm::Sha1, HashAlgorithm::Rolling];

/// How a set hashes keys, and how it says that its keys were made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    pub hash: Option<HashSpec>,
    pub form: Option<KeyForm>,
}

impl Made {
    /// Reads the arguments `hash` and `like`, of which at most one is given.
    pub fn read(py: Python<'_>, hash: Option<&str>, like: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match (hash, like) {
            (Some(_), Some(_)) => Err(config(py, "hash and like exclude each other: give one of them")),
            (Some(text), None) => Ok(Self { hash: Some(parse_hash(py, text)?), form: None }),
            (None, Some(set)) => Self::like(set),
            (None, None) => Ok(Self::default()),
        }
    }

    /// How another set is made: an object that tells its `hash`, and perhaps its `form`, or the path of a filter or a store.
    fn like(set: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = set.py();
        if let Ok(hash) = set.getattr("hash") {
            let hash = parse_hash(py, &hash.extract::<String>()?)?;
            let form = set.getattr_opt("form")?.map(|form| parse_form(&form.extract::<String>()?)).transpose()?;
            return Ok(Self { hash: Some(hash), form });
        }
        let path: PathBuf = set.extract()?;
        if path.is_dir() {
            let manifest = Directory::open_read_only(&path).and_then(|storage| storage.manifest()).or_raise(py)?;
            return Ok(Self { hash: Some(manifest.hash), form: Some(manifest.form) });
        }
        Ok(Self { hash: Some(CheckedFilter::open(&path).or_raise(py)?.hash_spec()), form: None })
    }
}

/// Reads how keys are made from records, in the words of the program that makes them.
pub fn parse_form(text: &str) -> PyResult<KeyForm> {
    text.parse::<KeyForm>().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads a hash: a name, or a name and a seed, as in `xxh64:0`.
pub fn parse_hash(py: Python<'_>, text: &str) -> PyResult<HashSpec> {
    let (name, seed) = text.split_once(':').unwrap_or((text, "0"));
    let invalid = || {
        let names = ALGORITHMS.map(HashAlgorithm::name).join(", ");
        config(
            py,
            format!(
                "hash {text:?} is invalid: write NAME or NAME:SEED, where NAME is one of {names}, and SEED is \
                            a 64-bit number or `random`"
            ),
        )
    };
    let algorithm = ALGORITHMS.into_iter().find(|algorithm| algorithm.name() == name).ok_or_else(invalid)?;
    let seed = match seed.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map_err(|_| invalid())?,
        None if seed == "random" => HashSpec::random().seed,
        None => seed.parse().map_err(|_| invalid())?,
    };
    Ok(HashSpec { algorithm, seed })
}

/// A hash as [`parse_hash`] reads it.
pub fn hash_text(hash: HashSpec) -> String {
    format!("{}:{:#x}", hash.algorithm.name(), hash.seed)
}

/// Reads a number of bytes: an `int`, or a text such as `64MiB`.
pub fn parse_size(size: &Bound<'_, PyAny>) -> PyResult<u64> {
    const UNITS: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    if size.is_instance_of::<PyInt>() {
        return size.extract().map_err(|_| config(size.py(), "a size in bytes must be from 0 to 2**64 - 1"));
    }
    let text: String = size.extract()?;
    let (digits, unit) =
        UNITS.into_iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit))).unwrap_or((&text, 1));
    let bytes = digits.trim().parse::<u64>().ok().and_then(|count| count.checked_mul(unit));
    bytes.ok_or_else(|| config(size.py(), format!("size {text:?} is invalid: write a number of bytes, or as in 64MiB")))
}

/// Reads a window: a number of keys, or a time as in `90s`, `15m`, `12h`, `30d`.
pub fn parse_window(window: &Bound<'_, PyAny>) -> PyResult<Window> {
    const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let invalid = || {
        config(
            window.py(),
            "window is invalid: give a positive number of keys, or a time such as \"90s\", \"12h\", \"30d\"",
        )
    };
    if window.is_instance_of::<PyInt>() {
        return Ok(Window::Keys(window.extract::<u64>().ok().and_then(NonZeroU64::new).ok_or_else(invalid)?));
    }
    let text: String = window.extract()?;
    let ticks = UNITS
        .into_iter()
        .find_map(|(name, unit)| NonZeroU64::new(text.strip_suffix(name)?.parse::<u64>().ok()?.checked_mul(unit)?));
    ticks.map(Window::Milliseconds).ok_or_else(invalid)
}
