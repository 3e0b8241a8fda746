use super::super::{Clause, Phrase, PhraseWord, limits};
use super::MessageError;
use super::reader::Reader;
use super::writer::Writer;

impl Writer {
    pub(super) fn clauses(&mut self, clauses: &[Clause]) {
        self.all("clauses", clauses, limits::CLAUSES, |to, Clause { must, without, phrases, without_phrases }| {
            for words in [must, without] {
                to.all("words", words, limits::WORDS, |to, word| to.word(word));
            }
            for phrases in [phrases, without_phrases] {
                to.all("phrases", phrases, limits::PHRASES, Self::phrase);
            }
        });
    }

    fn phrase(&mut self, phrase: &Phrase) {
        let words = phrase.words();
        self.word(&words[0].word);
        self.all("words of a phrase", &words[1..], limits::WORDS - 1, |to, PhraseWord { word, skips }| {
            to.flag(*skips);
            to.word(word);
        });
    }
}

impl Reader<'_> {
    pub(super) fn clauses(&mut self) -> Result<Vec<Clause>, MessageError> {
        self.all("clauses", limits::CLAUSES, 4, |from| {
            Ok(Clause {
                must: from.all("words", limits::WORDS, 2, Self::word)?,
                without: from.all("words", limits::WORDS, 2, Self::word)?,
                phrases: from.all("phrases", limits::PHRASES, 3, Self::phrase)?,
                without_phrases: from.all("phrases", limits::PHRASES, 3, Self::phrase)?,
            })
        })
    }

    fn phrase(&mut self) -> Result<Phrase, MessageError> {
        let mut words = vec![PhraseWord { word: self.word()?, skips: false }];
        words.extend(self.all("words of a phrase", limits::WORDS - 1, 3, |from| {
            Ok(PhraseWord { skips: from.flag("whether a phrase skips")?, word: from.word()? })
        })?);
        Ok(Phrase::new(words).expect("words that were read keep to the limits"))
    }
}
