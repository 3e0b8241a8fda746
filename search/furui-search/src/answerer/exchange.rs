use super::super::codec::{decode_grades, encode_grades};
use super::super::message::{Cost, Meet, Met, Refusal, Request, Response, Settle, Term, Wants};
use super::super::{CodecError, CodedSet, Coding, ContentId, Grade, Peer, plan, settle};

/// The set of ids that an exchange sends to the node that keeps another list, and the parameters of its coding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) ids: &'a [ContentId],
    pub(super) wants: Wants,
    pub(super) salt: u64,
    /// True if an earlier exchange for the same search has already removed ids.
    pub(super) narrowed: bool,
    /// True if the answer must say how well each document answers the word.
    pub(super) weighted: bool,
}

/// An exchange with one node that keeps a word's list: `Meet` and `Met`. If there is a third message, `Settle` and
/// `Settled` follow.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) with: Peer,
    how: How,
    coding: Coding,
    stage: Stage,
}

/// The rule by which the coding of the next message of an exchange is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The set has the coding that the query requests.
    AsWanted,
    /// Two messages with long checks, because the sets of the two sides differed after three messages.
    LongChecks,
    /// All ids in full, because the other side had too many matches for the coding. The number of matches of full ids
    /// is not limited.
    Plain,
}

#[derive(Debug)]
enum Stage {
    Meeting,
    Settling { claim: Settle, claim_bits: u64, answer: Answer },
}

/// The answer of a node that keeps a word's list: the indices of those sent ids that are also in its list, each with
/// how well the document answers the word, or with the default if that was not requested.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) both: Vec<(u32, Grade)>,
    pub(super) whole: bool,
}

/// The action of an exchange that follows a response.
pub(super) enum Then {
    /// The next message is sent to the peer that has answered.
    Ask,
    /// The exchange is over, with this answer.
    Answered(Answer),
    /// The peer has refused, so another replica must be asked.
    Refused,
    /// The peer has violated the protocol, so another replica must be asked.
    Lied,
}

impl Exchange {
    pub(super) fn new(with: Peer) -> Self {
        Self { with, how: How::AsWanted, coding: Coding::Ids, stage: Stage::Meeting }
    }

    /// The coding of the set that the exchange has sent last, and true if the next message is the third one.
    pub(super) fn coding(&self) -> (Coding, bool) {
        (self.coding, matches!(self.stage, Stage::Settling { .. }))
    }

    /// Makes the next message of the exchange. Returns the request, and the number of its bits as the paper of Sei et
    /// al. counts them.
    ///
    /// # Errors
    /// If the set cannot be coded as the query wants.
    pub(super) fn request(&mut self, term: &Term, question: Question<'_>) -> Result<(Request, u64), CodecError> {
        if let Stage::Settling { claim, claim_bits, .. } = &self.stage {
            return Ok((Request::Settle(claim.clone()), *claim_bits));
        }
        let Question { ids, wants, salt, narrowed, weighted } = question;
        // 32 bits of the salt are enough for one exchange.
        let salt = salt as u32;
        let (own, other) = (ids.len() as u64, term.size);
        self.coding = match self.how {
            How::AsWanted => {
                let coding = plan::choose_for_page(wants, own, other, salt);
                if narrowed { plan::or_ids(coding, own, other) } else { coding }
            }
            How::LongChecks => plan::golomb(own, other, salt),
            How::Plain => Coding::Ids,
        };
        let set = CodedSet::encode(ids, self.coding)?;
        Ok((Request::Meet(Meet { word: term.word.clone(), set: set.bytes, weighted }), set.bits))
    }

    /// Handles the answer to the last message, and adds its bits to the cost.
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
        let Ok(settlement) = settle(question.ids, self.coding, &met.matches) else { return Then::Lied };
        cost.back_bits += settlement.bits;
        let mut grades = vec![Grade::default(); settlement.matches];
        if question.weighted {
            match decode_grades(&met.grades, settlement.matches) {
                Ok(told) => grades = told,
                Err(_) => return Then::Lied,
            }
            cost.back_bits += encode_grades(&grades).bits;
        }
        let both = settlement.both.iter().zip(&settlement.of).map(|(&place, &of)| (place, grades[of as usize]));
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
