//! `Seen`: the pipeline from a batch of hashes to a verdict for each.

use crate::error::Result;
use crate::hash::KeyHash;
use crate::store::cascade::Cascade;

/// stub
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// new
    New,
    /// rep
    Repeat,
}

/// stub
pub struct Seen {
    recent: Vec<u64>,
    set: Cascade,
    survivors: Vec<KeyHash>,
    at: Vec<u32>,
    new: Vec<u32>,
}

impl Seen {
    /// stub
    pub fn new() -> Self {
        Self { recent: vec![0; 1024], set: Cascade::new(1 << 40), survivors: vec![], at: vec![], new: vec![] }
    }
    /// stub
    pub fn observe_all(&mut self, keys: &[KeyHash], verdicts: &mut Vec<Verdict>) -> Result<()> {
        verdicts.clear();
        verdicts.resize(keys.len(), Verdict::Repeat);
        self.survivors.clear();
        self.at.clear();
        self.survivors.resize(keys.len(), KeyHash::new(0));
        self.at.resize(keys.len(), 0);
        let mut k = 0;
        for (i, &key) in keys.iter().enumerate() {
            let slot = &mut self.recent[(key.get() >> 54) as usize];
            let miss = *slot != key.get();
            *slot = key.get();
            self.survivors[k] = key;
            self.at[k] = i as u32;
            k += usize::from(miss);
        }
        self.new.clear();
        self.set.insert_all(&self.survivors[..k], &mut self.new)?;
        for &i in &self.new {
            verdicts[self.at[i as usize] as usize] = Verdict::New;
        }
        Ok(())
    }
}
