use super::super::Phrase;
use super::error::{QueryError, QueryFault, fault};
use super::items::Item;
use crate::limits;

/// The syntax tree of a query: words and sites, combined by AND, OR and NOT.
pub(super) enum Expression<'a> {
    Words { words: &'a Phrase, is_quoted: bool },
    Site(&'a String),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// A parser that converts items to an expression.
pub(super) struct Parser<'a> {
    text: &'a str,
    items: &'a [(Item, usize)],
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, items: &'a [(Item, usize)]) -> Self {
        Self { text, items, next: 0, depth: 0 }
    }

    /// Parses all tokens of the query.
    pub(super) fn expression(mut self) -> Result<Expression<'a>, QueryError> {
        let expression = self.alternatives()?;
        match self.items.get(self.next) {
            Some(&(_, at)) => Err(fault(QueryFault::NotOpened, self.text, at)),
            None => Ok(expression),
        }
    }

    /// Parses `conjunction OR conjunction …`.
    fn alternatives(&mut self) -> Result<Expression<'a>, QueryError> {
        let mut any = vec![self.conjunction()?];
        while let Some(at) = self.take(&Item::Or) {
            let next = self.conjunction()?;
            if [&any[any.len() - 1], &next].into_iter().any(Expression::is_empty) {
                return Err(fault(QueryFault::OneSided("OR"), self.text, at));
            }
            any.push(next);
        }
        Ok(Expression::Any(any))
    }

    /// Parses `operand operand …`, with or without `AND` between them.
    fn conjunction(&mut self) -> Result<Expression<'a>, QueryError> {
        let mut all = Vec::new();
        let mut and = None;
        loop {
            if let Some(at) = self.take(&Item::And) {
                if all.is_empty() {
                    return Err(fault(QueryFault::OneSided("AND"), self.text, at));
                }
                and = Some(at);
            }
            match self.operand()? {
                Some(operand) => all.push(operand),
                None => break,
            }
            and = None;
        }
        match and {
            Some(at) => Err(fault(QueryFault::OneSided("AND"), self.text, at)),
            None => Ok(Expression::All(all)),
        }
    }

    /// Parses words, an expression in parentheses, or the negation of either; `None` if the next item is something
    /// else.
    fn operand(&mut self) -> Result<Option<Expression<'a>>, QueryError> {
        let mut negated = None;
        let mut is_negated = false;
        while let Some(at) = self.take(&Item::Not) {
            negated = Some(at);
            is_negated = !is_negated;
        }
        let operand = match self.items.get(self.next) {
            Some((Item::Words { words, is_quoted }, _)) => {
                self.next += 1;
                Expression::Words { words, is_quoted: *is_quoted }
            }
            Some((Item::Site(site), _)) => {
                self.next += 1;
                Expression::Site(site)
            }
            Some(&(Item::Open, at)) => self.group(at)?,
            _ => match negated {
                Some(at) => return Err(fault(QueryFault::NothingExcluded, self.text, at)),
                None => return Ok(None),
            },
        };
        Ok(Some(if is_negated { Expression::Not(operand.into()) } else { operand }))
    }

    fn group(&mut self, at: usize) -> Result<Expression<'a>, QueryError> {
        if self.depth == limits::NESTING {
            return Err(fault(QueryFault::TooDeep, self.text, at));
        }
        self.next += 1;
        self.depth += 1;
        let inside = self.alternatives()?;
        self.depth -= 1;
        match self.take(&Item::Close) {
            None => Err(fault(QueryFault::NotClosed, self.text, at)),
            Some(_) if inside.is_empty() => Err(fault(QueryFault::EmptyGroup, self.text, at)),
            Some(_) => Ok(inside),
        }
    }

    /// Removes the next token if it is `wanted`, and returns its byte offset in the query.
    fn take(&mut self, wanted: &Item) -> Option<usize> {
        let (_, at) = self.items.get(self.next).filter(|(item, _)| item == wanted)?;
        self.next += 1;
        Some(*at)
    }
}

impl Expression<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Words { .. } | Self::Site(_) | Self::Not(_) => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::is_empty),
        }
    }
}
