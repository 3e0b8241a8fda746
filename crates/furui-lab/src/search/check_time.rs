//! Fig. 6: the time to check a million keys against one filter, with their hashes computed beforehand or not.

use std::hint::black_box;

use furui::filter::{Bloom, Filter, FilterMut, Gamma, RingedBloom, RingedKeys, RingedParams, sizing};
use furui::{HashAlgorithm, HashSpec, KeyHash, Result};
use furui_search::{CodedSet, Coding, ContentId, IdRange, Matcher};

use super::RATES;
use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::table::Table;

/// The number of keys in the filter.
const MEMBERS: u64 = 10_000;
const ROUNDS: usize = 5;

/// The number of ids that a node reads at a time.
const PIECE: usize = 1 << 12;

pub(crate) fn fig6(quick: bool) -> Result<Table> {
    let asked: u64 = if quick { 10_000 } else { 1_000_000 };
    let columns = [
        "k",
        "fixed, ms",
        "ringed, hashes computed before, ms",
        "ringed, from the id, ms",
        "variable, hashing by k SHA-1, ms",
        "ringed before / fixed",
        "variable by SHA-1 / fixed",
    ];
    let mut table = Table::new(
        "fig6",
        format!("Fig. 6: time to check {asked} keys, {MEMBERS} in the filter, alpha = 2^-k"),
        columns,
    );
    let hashes =
        |set: u64, count: u64| -> Vec<KeyHash> { (0..count).map(|i| KeyHash::new(mix(set << 40 | i))).collect() };
    let (members, keys) = (hashes(0, MEMBERS), hashes(1, asked));
    for probes in RATES {
        let rate = sizing::rate_half_full(probes);
        let params = RingedParams::new(probes, Gamma::Whole, 100_000)?;
        let mut ringed = RingedBloom::with_size(params, MEMBERS)?;
        ringed.insert_all(&members)?;
        let mut computed = RingedKeys::new(params);
        computed.extend(keys.iter().copied());
        let mut fixed = Bloom::from_parts(sizing::bits(rate, MEMBERS), probes)?;
        fixed.insert_all(&members)?;
        let sha1 = HashSpec { algorithm: HashAlgorithm::Sha1, ..HashSpec::default() };
        let mut variable = Bloom::variable_size(MEMBERS, rate)?.hashed_by(sha1);
        variable.insert_all(&members)?;
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..if quick { 1 } else { ROUNDS } {
            let count = |test: &dyn Fn() -> usize| ns_each(1, || _ = black_box(test())) / 1e6;
            times[0].push(count(&|| keys.iter().filter(|&&key| fixed.contains_hash(key)).count()));
            times[1].push(count(&|| computed.iter().filter(|&key| ringed.contains_key(key)).count()));
            times[2].push(count(&|| keys.iter().filter(|&&key| ringed.contains_hash(key)).count()));
            times[3].push(count(&|| keys.iter().filter(|&&key| variable.contains_hash(key)).count()));
        }
        let [fixed, before, from_id, variable] = times.map(|mut times| median(&mut times));
        table.push([
            u64::from(probes).into(),
            fixed.into(),
            before.into(),
            from_id.into(),
            variable.into(),
            (before / fixed).into(),
            (variable / fixed).into(),
        ]);
    }
    Ok(table)
}

/// Measures what a node saves by keeping its lists' keys for ringed filters: a list is matched with a coded set, in
/// pieces as a node reads it.
pub(crate) fn keys_kept(quick: bool) -> Result<Table> {
    let asked = if quick { 10_000 } else { 1_000_000 };
    let columns = ["alpha", "from the ids, ms", "with keys kept, ms", "kept / from the ids", "bytes kept an id"];
    let mut table =
        Table::new("fig6_node", format!("A node's answer about {asked} ids, {MEMBERS} in the set"), columns);
    let ids = |set: u64, count: u64| {
        let id = |i| std::array::from_fn(|byte| (mix(set << 40 | i << 2 | (byte as u64 / 8)) >> (byte % 8 * 8)) as u8);
        let mut ids: Vec<_> = (0..count).map(|i| ContentId::new(id(i))).collect();
        ids.sort_unstable();
        ids
    };
    let (own, list) = (ids(2, MEMBERS), ids(3, asked));
    for probes in [4, 7, 11] {
        let params = RingedParams::new(probes, Gamma::Whole, 1000)?;
        let coded = CodedSet::encode(&own, IdRange::ALL, Coding::Ringed(params)).expect("a set that can be coded");
        let set = CodedSet::decode(&coded.bytes, IdRange::ALL).expect("what was coded");
        let pieces = list.chunks(PIECE).map(|ids| {
            let mut keys = RingedKeys::new(params);
            keys.extend(ids.iter().map(|id| id.hash()));
            (ids, keys)
        });
        let pieces: Vec<_> = pieces.collect();
        let answer = |keeps: bool| {
            let mut matcher = Matcher::new(set.clone());
            let fed = pieces.iter().try_for_each(|(ids, keys)| match keeps {
                true => matcher.feed_keys(ids, keys),
                false => matcher.feed(ids),
            });
            fed.map(|()| matcher.finish().coded.bits).expect("not too many matches")
        };
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..if quick { 1 } else { ROUNDS } {
            times[0].push(ns_each(1, || _ = black_box(answer(false))) / 1e6);
            times[1].push(ns_each(1, || _ = black_box(answer(true))) / 1e6);
        }
        let [from_ids, kept] = times.map(|mut times| median(&mut times));
        let bytes = u64::from(8 + 4 * probes);
        table.push([
            format!("2^-{probes}").into(),
            from_ids.into(),
            kept.into(),
            (kept / from_ids).into(),
            bytes.into(),
        ]);
    }
    Ok(table)
}
