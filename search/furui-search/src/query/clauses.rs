use super::super::asked::{exactly, list_of};
use super::super::{Asked, Clause, PhraseWord};
use super::error::QueryFault;
use super::expression::Expression;
use crate::limits;

/// Converts the expression, or its negation if `negated` is true, to disjunctive normal form.
pub(super) fn clauses(expression: &Expression<'_>, negated: bool) -> Result<Vec<Clause>, QueryFault> {
    match expression {
        &Expression::Words { words, is_quoted } => {
            let several = words.words().len() > 1;
            let is_phrase = is_quoted || negated || words.is_unspaced();
            let phrases = if several && is_phrase { vec![words.clone()] } else { vec![] };
            if negated && several {
                return Ok(vec![Clause { without_phrases: phrases, ..Clause::default() }]);
            }
            let mut clause = Clause { phrases, ..Clause::default() };
            let found = if negated { &mut clause.without } else { &mut clause.must };
            for PhraseWord { word, .. } in words.words() {
                match is_phrase {
                    true => add_new(found, &exactly(word)),
                    // Another form of a word is the same word.
                    false if found.iter().any(|other| list_of(other) == list_of(word)) => {}
                    false => found.push(word.clone()),
                }
            }
            Ok(vec![clause])
        }
        &Expression::Site(site) => {
            let words = vec![site.clone()];
            Ok(vec![match negated {
                false => Clause { must: words, ..Clause::default() },
                true => Clause { without: words, ..Clause::default() },
            }])
        }
        Expression::Not(inner) => clauses(inner, !negated),
        Expression::Any(parts) | Expression::All(parts) if parts.is_empty() => Ok(vec![]),
        Expression::Any(parts) if !negated => any(of_each(parts, negated)?),
        Expression::All(parts) if negated => any(of_each(parts, negated)?),
        Expression::Any(parts) | Expression::All(parts) => all(parts.iter().map(|part| clauses(part, negated))),
    }
}

fn of_each(parts: &[Expression<'_>], negated: bool) -> Result<Vec<Vec<Clause>>, QueryFault> {
    parts.iter().map(|part| clauses(part, negated)).collect()
}

/// Converts a disjunction to clauses: those of all its parts.
fn any(parts: Vec<Vec<Clause>>) -> Result<Vec<Clause>, QueryFault> {
    let mut found = Vec::new();
    for clause in parts.into_iter().flatten() {
        add(&mut found, clause)?;
    }
    Ok(found)
}

/// The clauses of a conjunction. AND is distributed over OR: the result is the cross product of the parts' clauses.
fn all(parts: impl Iterator<Item = Result<Vec<Clause>, QueryFault>>) -> Result<Vec<Clause>, QueryFault> {
    let mut found = vec![Clause::default()];
    for part in parts {
        let part = part?;
        let mut both = Vec::new();
        for left in &found {
            for right in &part {
                let mut clause = left.clone();
                right.must.iter().for_each(|word| add_word(&mut clause.must, word));
                right.without.iter().for_each(|word| add_new(&mut clause.without, word));
                right.phrases.iter().for_each(|phrase| add_new(&mut clause.phrases, phrase));
                right.without_phrases.iter().for_each(|phrase| add_new(&mut clause.without_phrases, phrase));
                if !contradicts(&clause) {
                    add(&mut both, clause)?;
                }
            }
        }
        found = both;
    }
    Ok(found)
}

/// Adds a required word, unless its list is required already. An exact word takes the place of any form of it.
fn add_word(must: &mut Vec<String>, word: &String) {
    let is_exact = Asked::of(word).is_exact();
    match must.iter_mut().find(|other| list_of(other) == list_of(word) && !(is_exact && Asked::of(other).is_exact())) {
        Some(other) if is_exact => *other = word.clone(),
        Some(_) => {}
        None => add_new(must, word),
    }
}

fn contradicts(clause: &Clause) -> bool {
    let is_excluded =
        |word: &String| clause.without.iter().any(|other| Asked::of(other).word() == Asked::of(word).word());
    clause.must.iter().any(is_excluded) || clause.phrases.iter().any(|phrase| clause.without_phrases.contains(phrase))
}

fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, new: &T) {
    if !all.contains(new) {
        all.push(new.clone());
    }
}

/// Adds a clause unless a more general clause is there already, and removes less general ones.
fn add(clauses: &mut Vec<Clause>, clause: Clause) -> Result<(), QueryFault> {
    if clauses.iter().any(|other| includes(other, &clause)) {
        return Ok(());
    }
    clauses.retain(|other| !includes(&clause, other));
    if clauses.len() == limits::CLAUSES {
        return Err(QueryFault::TooManyClauses);
    }
    clauses.push(clause);
    Ok(())
}

/// True if every document that matches the narrow clause matches the wide one.
fn includes(wide: &Clause, narrow: &Clause) -> bool {
    let has = |word: &String| {
        let has_any = !Asked::of(word).is_exact() && narrow.must.iter().any(|other| list_of(other) == list_of(word));
        has_any || narrow.must.contains(word)
    };
    wide.must.iter().all(has)
        && wide.without.iter().all(|word| narrow.without.contains(word))
        && wide.phrases.iter().all(|phrase| narrow.phrases.contains(phrase))
        && wide.without_phrases.iter().all(|phrase| narrow.without_phrases.contains(phrase))
}
