//! What a shelf knows of where postings come from, and what it removes with those who lied.

use std::collections::HashSet;
use std::path::PathBuf;

use furui_net::shelf::{Addition, Origin, Shelf, ShelfOptions};
use furui_search::{ContentId, IdRange, Index, Weight, WordPostings};

const EXPIRES: u64 = 4_000_000_000;

fn id(number: u8) -> ContentId {
    ContentId::new([number; ContentId::BYTES])
}

fn weight(step: u8) -> Weight {
    Weight::of_bits(Weight::PLAIN_USE | u16::from(step), 20).unwrap()
}

fn postings(word: &str, numbers: impl IntoIterator<Item = u8>) -> Vec<WordPostings> {
    vec![(word.to_owned(), numbers.into_iter().map(|number| (id(number), weight(1))).collect())]
}

fn origin(peer: u8) -> Origin {
    Origin { peer: vec![peer], prefix: peer.to_string(), taken_over: false }
}

fn neighbour(peer: u8) -> Origin {
    Origin { taken_over: true, ..origin(peer) }
}

fn store(shelf: &mut Shelf, from: &Origin, proven: &[u8], postings: &[WordPostings]) -> u64 {
    let proven: HashSet<ContentId> = proven.iter().map(|&number| id(number)).collect();
    shelf.store_of(from, &proven, (postings, &[], &[]), EXPIRES).unwrap().unwrap().new
}

fn listed(shelf: &mut Shelf, word: &str) -> Vec<u8> {
    shelf.slice(word, IdRange::ALL, 1000).unwrap().0.iter().map(|id| id.as_bytes()[0]).collect()
}

/// A shelf on disk, which is opened again and flushed between the steps of a test, or not.
struct Steps {
    shelf: Option<Shelf>,
    directory: PathBuf,
    mode: u8,
}

impl Steps {
    fn all(name: &str, test: impl Fn(&mut Self)) {
        for mode in 0..3 {
            let directory = std::env::temp_dir().join(format!("furui-{name}-{mode}-{}", std::process::id()));
            let mut steps = Self { shelf: None, directory, mode };
            test(&mut steps);
            drop(steps.shelf.take());
            std::fs::remove_dir_all(&steps.directory).unwrap();
        }
    }

    fn next(&mut self) -> &mut Shelf {
        if self.mode == 1
            && let Some(shelf) = &mut self.shelf
        {
            shelf.compact().unwrap();
        }
        if self.mode == 2 {
            drop(self.shelf.take());
        }
        let open = || Shelf::open(&self.directory, ShelfOptions::default()).unwrap();
        self.shelf.get_or_insert_with(open)
    }
}

#[test]
fn additions_are_what_is_new_and_strange_is_what_does_not_go_with_its_origin() {
    Steps::all("additions", |steps| {
        store(steps.next(), &origin(1), &[], &postings("word", 1..=4));
        store(steps.next(), &origin(2), &[5], &postings("word", [5]));
        steps.next().store((&postings("word", [6]), &[], &[]), EXPIRES).unwrap();
        let mut all = postings("word", 1..=7);
        all.extend(postings("other", 4..=7));
        all[1].1[3].1 = weight(3);
        let addition = |number, strange, claims, best| Addition { id: id(number), strange, claims, best: weight(best) };
        let mut its = steps.next().additions(&origin(1), &all).unwrap();
        its.sort_by_key(|addition| addition.id);
        let expected =
            [addition(4, false, 1, 1), addition(5, true, 1, 1), addition(6, true, 1, 1), addition(7, false, 2, 3)];
        assert_eq!(its, expected);
        let of_others = steps.next().of_others(&origin(1), &(1..=7).map(id).collect::<Vec<_>>()).unwrap();
        assert_eq!(of_others, HashSet::from([id(5), id(6)]));
        // Who confirms what another publisher has brought makes it strange to that one, if it is checked.
        let confirmed = steps.next().additions(&origin(3), &postings("word", [1, 5, 6])).unwrap();
        assert_eq!(confirmed, [addition(1, true, 0, 1)]);
        // Also to its own origin, a document that is proven is strange.
        let its = steps.next().additions(&origin(2), &postings("other", [5])).unwrap();
        assert_eq!(its, [addition(5, true, 1, 1)]);
    });
}

#[test]
fn a_crowd_that_is_counted_together_has_only_strange_documents() {
    let mut shelf = Shelf::in_memory(ShelfOptions::default()).unwrap();
    let one_of = |peer| Origin { peer: vec![peer], prefix: "one".to_owned(), taken_over: false };
    for peer in 0..100 {
        let strange = shelf.additions(&one_of(peer), &postings("word", [peer])).unwrap()[0].strange;
        assert_eq!(strange, peer >= 64);
        store(&mut shelf, &one_of(peer), &[], &postings("word", [peer]));
    }
}

#[test]
fn what_a_liar_brought_goes_but_for_what_is_proven() {
    Steps::all("liar", |steps| {
        store(steps.next(), &origin(1), &[], &postings("word", 1..=4));
        store(steps.next(), &origin(2), &[3], &postings("other", [3, 9]));
        store(steps.next(), &origin(1), &[4, 5], &postings("other", [4, 5]));
        steps.next().store((&postings("own", [2]), &[], &[]), EXPIRES).unwrap();
        // The same peer as a neighbour is another origin.
        store(steps.next(), &neighbour(1), &[], &postings("word", [7]));
        assert_eq!(steps.next().remove_claims(&[origin(1), origin(8)]).unwrap(), 1);
        assert_eq!(listed(steps.next(), "word"), [2, 3, 4, 7]);
        assert_eq!(listed(steps.next(), "other"), [3, 4, 5, 9]);
        assert_eq!(steps.next().remove_claims(&[neighbour(1)]).unwrap(), 1);
        assert_eq!(listed(steps.next(), "word"), [2, 3, 4]);
    });
}

#[test]
fn nobody_is_sure_to_have_brought_what_others_may_have_brought() {
    Steps::all("sure", |steps| {
        store(steps.next(), &origin(1), &[], &postings("word", 1..=5));
        store(steps.next(), &origin(2), &[2], &postings("other", [2]));
        store(steps.next(), &neighbour(3), &[], &postings("other", [3, 6]));
        // A neighbour that brings nothing new changes nothing.
        store(steps.next(), &neighbour(3), &[], &postings("word", [4]));
        steps.next().store((&postings("own", [5]), &[], &[]), EXPIRES).unwrap();
        let ids: Vec<ContentId> = (1..=7).map(id).collect();
        let word = steps.next().listed("word", &ids).unwrap();
        let seen: Vec<_> = word.iter().map(|it| (it.id.as_bytes()[0], it.origin.clone(), it.sure)).collect();
        let one = Some(origin(1));
        let expected = [
            (1, one.clone(), true),
            (2, one.clone(), false),
            (3, one.clone(), false),
            (4, one, true),
            (5, None, false),
        ];
        assert_eq!(seen, expected);
        let other = steps.next().listed("other", &ids).unwrap();
        assert!(other.iter().all(|it| !it.sure) && other[2].origin == Some(neighbour(3)));
    });
}

#[test]
fn postings_are_removed_and_put_right() {
    Steps::all("right", |steps| {
        // A false length is that of all postings of its document.
        let false_weight = Weight::of_bits(Weight::PLAIN_USE | 15, 1).unwrap();
        let forged = vec![("word".to_owned(), vec![(id(1), false_weight), (id(2), weight(1))])];
        store(steps.next(), &origin(1), &[], &forged);
        store(steps.next(), &origin(2), &[1], &[("true".to_owned(), vec![(id(1), weight(2))])]);
        let weights = |shelf: &mut Shelf, word| shelf.slice(word, IdRange::ALL, 9).unwrap().1.to_vec();
        assert_eq!(weights(steps.next(), "true"), [weight(2)]);
        assert_eq!(steps.next().remove_postings("word", &[id(1), id(9)]).unwrap(), 1);
        assert_eq!(listed(steps.next(), "word"), [2]);
        assert_eq!(steps.next().put_right("word", &[(id(1), Weight::new(4, 7))]).unwrap(), 1);
        assert_eq!(weights(steps.next(), "word"), [Weight::new(4, 7), weight(1)]);
        assert_eq!(weights(steps.next(), "true"), [Weight::new(3, 7)]);
        assert_eq!(steps.next().remove_postings("word", &[id(1), id(2)]).unwrap(), 2);
        assert_eq!(steps.next().size("word").unwrap().ids, 0);
        assert_eq!(steps.next().words_after("", 9).unwrap().len(), 1);
        assert_eq!(steps.next().statistics().unwrap().postings, 1);
    });
}
