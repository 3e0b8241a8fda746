//! Searches find what brute force finds, in order, page by page.

use furui_search::{Clause, Place, Querier, QueryEvent, QueryOptions, limits};

use crate::world::{Links, World};
use crate::{CODINGS, WORDS, any_query, any_query_is_right, best, clause, query, whole_answer};

#[test]
fn every_coding_finds_what_brute_force_finds() {
    let seed = 1;
    let mut world = World::new(seed, 20, 3000, &WORDS);
    let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).chain(["unheard"]).collect();
    for round in 0..60 {
        let clauses = any_query(&mut world.random, &words);
        for wants in CODINGS {
            let outcome = world.run(query(&clauses, QueryOptions { wants, ..whole_answer(round) }));
            let QueryEvent::Done { found, more: false, whole: true } = outcome.end else {
                panic!("seed {seed}, round {round}, {wants:?}: {:?}", outcome.end)
            };
            assert!(outcome.ids == world.truth(&clauses), "seed {seed}, round {round}, {wants:?}: {clauses:?}");
            assert_eq!(found, outcome.ids.len() as u64);
            assert!(outcome.pages.iter().rev().skip(1).all(|page| page.len() == 20));
        }
    }
}

#[test]
fn answers_are_right_over_rough_links() {
    for seed in 0..30 {
        let mut world = World::new(seed, 12, 1000, &WORDS);
        world.links = Links::ROUGH;
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        any_query_is_right(&mut world, &words, seed);
    }
}

#[test]
fn documents_are_in_order_and_none_comes_twice_in_a_union() {
    let mut world = World::new(9, 20, 4000, &WORDS);
    let clauses: Vec<Clause> = WORDS.iter().map(|(word, _)| clause(&[word], &[])).collect();
    let outcome = world.run(query(&clauses, QueryOptions { page: 7, ..whole_answer(1) }));
    assert!(outcome.pages.concat() == world.ranked_truth(&clauses));
    assert!(outcome.most_ids_held <= 2 * (limits::PAGE + 1));
}

#[test]
fn the_best_come_first_and_in_one_order_whatever_is_asked() {
    let mut world = World::new(5, 20, 4000, &WORDS);
    let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).chain(["unheard"]).collect();
    for round in 0..150 {
        let clauses = any_query(&mut world.random, &words);
        let limit = [1, 10, 25, 300, 4096][round as usize % 5];
        let truth = world.ranked_truth(&clauses);
        let wants = CODINGS[round as usize % CODINGS.len()];
        let outcome = world.run(query(&clauses, QueryOptions { wants, ..best(round, limit) }));
        let QueryEvent::Done { found, more, whole: true } = outcome.end else { panic!("{:?}", outcome.end) };
        let places = outcome.pages.concat();
        assert!(places == truth[..truth.len().min(limit as usize)], "round {round}: {clauses:?}");
        assert_eq!(found, places.len() as u64, "round {round}: {clauses:?}");
        assert!(more || truth.len() <= limit as usize, "round {round}: {clauses:?}");
    }
}

#[test]
fn pages_of_the_best_by_cursor_have_neither_gaps_nor_duplicates() {
    let mut world = World::new(3, 20, 4000, &WORDS);
    for clauses in [
        vec![clause(&["the", "of"], &["and"])],
        vec![clause(&["search"], &[])],
        vec![clause(&["the", "search"], &[]), clause(&["of", "filter"], &[]), clause(&["ring"], &["the"])],
    ] {
        let (mut after, mut places, mut known) = (None, Vec::<Place>::new(), vec![]);
        loop {
            let options = QueryOptions { after, ..best(9, 37) };
            let outcome = world.run(Querier::new(&clauses, known, options).unwrap());
            let QueryEvent::Done { more, .. } = outcome.end else { panic!("{:?}", outcome.end) };
            places.extend(outcome.pages.concat());
            (after, known) = (places.last().copied(), outcome.known);
            if !more {
                break;
            }
        }
        assert_eq!(places, world.ranked_truth(&clauses));
    }
}
