use super::super::codec::{decode_steps, encode_steps};
use super::super::message::{CodingKind, Cost, Meet, Met, Refusal, Request, Response, Settle, Term, Wants};
use super::super::{CodecError, CodedSet, Coding, ContentId, IdRange, Peer, plan, settle};

/// What is sent, and how it is to be coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) ids: &'a [ContentId],
    pub(super) range: IdRange,
    pub(super) wants: Wants,
    pub(super) salt: u64,
    /// Whether the ids are what a meeting before has left.
    pub(super) narrowed: bool,
    /// Whether the word's occurrences are asked for.
    pub(super) weighted: bool,
    /// Whether the best are asked for: a page, not all there are.
    pub(super) ranked: bool,
}

/// One exchange with one keeper of a word: two messages, or four with a third and its confirmation.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) with: Peer,
    how: How,
    coding: Coding,
    stage: Stage,
}

/// How the coding is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// As is wanted.
    AsWanted,
    /// In two messages, after the sides disagreed in three.
    LongChecks,
    /// All ids, after the other side had too many matches for the coding: with ids there are never too many.
    Plain,
}

#[derive(Debug)]
enum Stage {
    Meeting,
    Settling { claim: Settle, claim_bits: u64, answer: Answer },
}

/// Which of the ids sent are in the other list, by their places; and the step of the word's occurrences in each, or 0 if that
/// was not asked for.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) both: Vec<(u32, u8)>,
    pub(super) whole: bool,
}

/// Where a response leads.
pub(super) enum Then {
    /// To the next message with the same peer.
    Ask,
    /// To the end.
    Answered(Answer),
    /// To another replica; `Lied` if this one broke the protocol or failed.
    Refused,
    Lied,
}

impl Exchange {
    pub(super) fn new(with: Peer) -> Self {
        Self { with, how: How::AsWanted, coding: Coding::Ids, stage: Stage::Meeting }
    }

    /// How the set was coded.
    pub(super) fn coding(&self) -> CodingKind {
        match self.stage {
            Stage::Meeting => self.coding.into(),
            Stage::Settling { .. } => CodingKind::GolombInThree,
        }
    }

    /// The next message of it, and its bits.
    ///
    /// # Errors
    /// If the set cannot be coded as is wanted.
    pub(super) fn request(&mut self, term: &Term, question: Question<'_>) -> Result<(Request, u64), CodecError> {
        if let Stage::Settling { claim, claim_bits, .. } = &self.stage {
            return Ok((Request::Settle(claim.clone()), *claim_bits));
        }
        let Question { ids, range, wants, salt, narrowed, weighted, ranked } = question;
        // A half of it is enough for one exchange.
        let salt = salt as u32;
        let (own, other) = (ids.len() as u64, (term.size as f64 * range.part()).ceil() as u64);
        let choose = if ranked { plan::choose_for_page } else { plan::choose };
        self.coding = match self.how {
            How::AsWanted if narrowed => plan::or_ids(choose(wants, own, other, range, salt), own, other, range),
            How::AsWanted => choose(wants, own, other, range, salt),
            How::LongChecks => plan::golomb(own, other, range, salt),
            How::Plain => Coding::Ids,
        };
        let set = CodedSet::encode(ids, range, self.coding)?;
        Ok((Request::Meet(Meet { word: term.word.clone(), range, set: set.bytes, weighted }), set.bits))
    }

    /// Takes the answer to the last message; its bits are added to the cost.
    pub(super) fn on_response(&mut self, response: Response, question: Question<'_>, cost: &mut Cost) -> Then {
        match (std::mem::replace(&mut self.stage, Stage::Meeting), response) {
            (Stage::Meeting, Response::Met(met)) => self.on_met(met, question, cost),
            (Stage::Meeting, Response::Refused(Refusal::Crowded)) if self.coding != Coding::Ids => {
                self.how = How::Plain;
                Then::Ask
            }
            (Stage::Settling { answer, .. }, Response::Settled(true)) => Then::Answered(answer),
            (Stage::Settling { .. }, Response::Settled(false) | Response::Refused(Refusal::Forgotten)) => {
                self.how = How::LongChecks;
                Then::Ask
            }
            (_, Response::Refused(Refusal::Busy | Refusal::Failed)) => Then::Refused,
            _ => Then::Lied,
        }
    }

    fn on_met(&mut self, met: Met, question: Question<'_>, cost: &mut Cost) -> Then {
        let Ok(settlement) = settle(question.ids, question.range, self.coding, &met.matches) else { return Then::Lied };
        cost.back_bits += settlement.bits;
        let mut steps = vec![0; settlement.matches];
        if question.weighted {
            match decode_steps(&met.steps, settlement.matches) {
                Ok(told) => steps = told,
                Err(_) => return Then::Lied,
            }
            cost.back_bits += encode_steps(&steps).bits;
        }
        let both = settlement.both.iter().zip(&settlement.of).map(|(&place, &of)| (place, steps[of as usize]));
        let answer = Answer { both: both.collect(), whole: met.whole };
        match (settlement.claim, met.session) {
            (None, None) => Then::Answered(answer),
            (Some(claim), Some(session)) => {
                let claim_bits = claim.bits();
                let claim = Settle { session, rejected: claim.rejected.bytes, checksum: claim.checksum };
                self.stage = Stage::Settling { claim, claim_bits, answer };
                Then::Ask
            }
            _ => Then::Lied,
        }
    }
}
