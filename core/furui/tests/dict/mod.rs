//! Tests dictionaries of numbers and of bytes in each layout. They are compared with an ordered map through all
//! interleavings of operations, and opened on storage that fails, is damaged, or was made by an attacker.

mod bytes;
mod damage;
mod faults;
mod jobs;
mod made;
mod model;
mod numbers;
mod regions;
mod value_files;
mod values;
