//! Testing and setting the bits of keys in lines: the hot loops of a blocked filter.
//!
//! For each instruction set there is a file that tests and sets the bits of one key in one line. This file finds the
//! lines of keys for all of them, one by one and in batches.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

use super::layout::{Layout, Row};
use crate::bits::{Cpu, Level, prefetch, prefetch_for_write, scale};
use crate::filter::batch;
use crate::hash::KeyHash;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// A table of at most this size, in bytes, is not prefetched: the processor overlaps the loads of keys by itself.
const NEAR: usize = 1 << 20;

/// A cache line: eight lanes, which are little-endian words of 64 bits.
pub(super) type Line = [u8; 64];

/// True if all bits of `key` are set in `table`.
#[inline(always)]
pub(super) fn contains(cpu: Cpu, table: &[Line], layout: Layout, key: KeyHash) -> bool {
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { avx512::contains(table, layout, key) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V3 => unsafe { avx2::contains(table, layout, key) },
        Level::Portable => contains_by(table, layout, key, portable::test),
    }
}

/// Sets all bits of `key`. Returns true if one of them was not set before.
#[inline(always)]
pub(super) fn insert(cpu: Cpu, table: &mut [Line], layout: Layout, key: KeyHash) -> bool {
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { avx512::insert(table, layout, key) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V3 => unsafe { avx2::insert(table, layout, key) },
        Level::Portable => insert_by(table, layout, key, portable::set),
    }
}

/// Works like [`contains`] for every key; the answers go to `answers`, which is as long as `keys`.
pub(super) fn contains_all(cpu: Cpu, table: &[Line], layout: Layout, keys: &[KeyHash], answers: &mut [bool]) {
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { avx512::contains_all(table, layout, keys, answers) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V3 => unsafe { avx2::contains_all(table, layout, keys, answers) },
        Level::Portable => contains_all_by(table, layout, keys, answers, portable::test),
    }
}

/// Works like [`insert`] for every key. Returns how many of them were new.
pub(super) fn insert_all(cpu: Cpu, table: &mut [Line], layout: Layout, keys: &[KeyHash]) -> u64 {
    match cpu.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V4 => unsafe { avx512::insert_all(table, layout, keys) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions exist.
        Level::V3 => unsafe { avx2::insert_all(table, layout, keys) },
        Level::Portable => insert_all_by(table, layout, keys, portable::set),
    }
}

/// The index of the key's own line in a table of `lines` lines.
#[inline(always)]
pub(super) fn line_of(key: KeyHash, lines: usize) -> usize {
    scale(key.get(), lines)
}

#[inline(always)]
fn contains_by(table: &[Line], layout: Layout, key: KeyHash, test: impl Fn(&Line, u64, &Row) -> bool) -> bool {
    let (line, choice) = (line_of(key, table.len()), Layout::choice(key));
    // The most common layout has a branch of its own, in which the row is a constant.
    if layout == Layout::LINE {
        return test(&table[line], choice, Layout::LINE.own(choice));
    }
    if !test(&table[line], choice, layout.own(choice)) {
        return false;
    }
    if !layout.is_pair() {
        return true;
    }
    let choice = Layout::other_choice(choice);
    test(&table[line ^ 1], choice, layout.other(choice))
}

#[inline(always)]
fn insert_by(table: &mut [Line], layout: Layout, key: KeyHash, set: impl Fn(&mut Line, u64, &Row) -> bool) -> bool {
    let (line, choice) = (line_of(key, table.len()), Layout::choice(key));
    if layout == Layout::LINE {
        return set(&mut table[line], choice, Layout::LINE.own(choice));
    }
    let new = set(&mut table[line], choice, layout.own(choice));
    if !layout.is_pair() {
        return new;
    }
    let choice = Layout::other_choice(choice);
    set(&mut table[line ^ 1], choice, layout.other(choice)) | new
}

#[inline(always)]
fn contains_all_by(
    table: &[Line],
    layout: Layout,
    keys: &[KeyHash],
    answers: &mut [bool],
    test: impl Fn(&Line, u64, &Row) -> bool,
) {
    // The most common layout has a loop of its own, in which the layout is a constant.
    if layout == Layout::LINE {
        contains_each(table, Layout::LINE, keys, answers, test);
    } else {
        contains_each(table, layout, keys, answers, test);
    }
}

#[inline(always)]
fn contains_each(
    table: &[Line],
    layout: Layout,
    keys: &[KeyHash],
    answers: &mut [bool],
    test: impl Fn(&Line, u64, &Row) -> bool,
) {
    batch::for_each(
        table,
        size_of_val(table) > NEAR,
        keys,
        #[inline(always)]
        |table, key| {
            let line = line_of(key, table.len());
            prefetch(&table[line]);
            // A miss seldom reads the neighbour, but a hit reads it, and would have to wait without this prefetch.
            if layout.is_pair() {
                prefetch(&table[line ^ 1]);
            }
        },
        #[inline(always)]
        |table, index, key| answers[index] = contains_by(table, layout, key, &test),
    );
}

#[inline(always)]
fn insert_all_by(
    table: &mut [Line],
    layout: Layout,
    keys: &[KeyHash],
    set: impl Fn(&mut Line, u64, &Row) -> bool,
) -> u64 {
    // The most common layout has a loop of its own, in which the layout is a constant.
    if layout == Layout::LINE {
        insert_each(table, Layout::LINE, keys, set)
    } else {
        insert_each(table, layout, keys, set)
    }
}

#[inline(always)]
fn insert_each(
    table: &mut [Line],
    layout: Layout,
    keys: &[KeyHash],
    set: impl Fn(&mut Line, u64, &Row) -> bool,
) -> u64 {
    let (far, mut new) = (size_of_val(table) > NEAR, 0);
    batch::for_each(
        table,
        far,
        keys,
        #[inline(always)]
        |table, key| {
            let line = line_of(key, table.len());
            prefetch_for_write(table, line);
            if layout.is_pair() {
                prefetch_for_write(table, line ^ 1);
            }
        },
        #[inline(always)]
        |table, _, key| new += u64::from(insert_by(table, layout, key, &set)),
    );
    new
}
