use super::super::Clause;
use super::error::QueryFault;
use super::expression::Expression;
use crate::limits;

/// Converts the expression, or its negation if `negated` is true, to disjunctive normal form.
pub(super) fn clauses(expression: &Expression<'_>, negated: bool) -> Result<Vec<Clause>, QueryFault> {
    match expression {
        &Expression::Words { words, is_quoted } => {
            let several = words.words().len() > 1;
            let phrases = if several && (is_quoted || negated) { vec![words.clone()] } else { vec![] };
            if negated && several {
                return Ok(vec![Clause { without_phrases: phrases, ..Clause::default() }]);
            }
            let mut clause = Clause { phrases, ..Clause::default() };
            let found = if negated { &mut clause.without } else { &mut clause.must };
            words.words().iter().for_each(|word| add_new(found, &word.word));
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
                right.must.iter().for_each(|word| add_new(&mut clause.must, word));
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

fn contradicts(clause: &Clause) -> bool {
    clause.must.iter().any(|word| clause.without.contains(word))
        || clause.phrases.iter().any(|phrase| clause.without_phrases.contains(phrase))
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
    wide.must.iter().all(|word| narrow.must.contains(word))
        && wide.without.iter().all(|word| narrow.without.contains(word))
        && wide.phrases.iter().all(|phrase| narrow.phrases.contains(phrase))
        && wide.without_phrases.iter().all(|phrase| narrow.without_phrases.contains(phrase))
}
