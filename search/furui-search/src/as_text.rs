//! Serializes ids, keys and places in formats such as JSON as text, in the form that `Display` writes and `FromStr`
//! parses.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ContentId, Place, PublisherKey};

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

as_text!(ContentId, Place, PublisherKey);
