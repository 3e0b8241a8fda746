use furui::store::cascade::Share;

/// The shares of a set that is split. Each is used by one worker at a time, and takes the batches in
/// the order of the input.
pub struct Shares<F> {
    /// `None` while a worker has the share.
    shares: Vec<Option<Share<F>>>,
    /// For each share, the number of the batch that it takes next.
    turns: Vec<u64>,
}

/// The maximum number of shares.
const MOST: usize = 16;
/// The minimum memory of a set for each of its shares, in bytes. With less, the spare room in small tables would be a
/// large part of it.
const LEAST_BYTES: u64 = 128 << 10;

impl<F> Shares<F> {
    /// Shares that have not taken any batch.
    pub fn new(shares: Vec<Share<F>>) -> Self {
        Self { turns: vec![0; shares.len()], shares: shares.into_iter().map(Some).collect() }
    }

    /// The number of shares for a set with this much memory and this many workers; 0 if the set is not to be split.
    pub fn count(workers: usize, memory: u64) -> usize {
        match workers.min(MOST).min((memory / LEAST_BYTES) as usize) {
            0 | 1 => 0,
            count => count,
        }
    }

    /// How many shares there are.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// True if no worker has a share.
    pub fn are_home(&self) -> bool {
        self.shares.iter().all(Option::is_some)
    }

    /// The number of the batch that a share takes next.
    pub fn turn(&self, share: usize) -> u64 {
        self.turns[share]
    }

    /// The share that can take the earliest of the batches with numbers from `left` up to `end`,
    /// without `end`. `waits` tells whether a batch has keys for a share.
    pub fn next(&mut self, left: u64, end: u64, waits: impl Fn(u64, usize) -> bool) -> Option<usize> {
        for (share, turn) in self.turns.iter_mut().enumerate() {
            *turn = (*turn).max(left);
            while *turn < end && !waits(*turn, share) {
                *turn += 1;
            }
        }
        let free = |&share: &usize| self.shares[share].is_some() && self.turns[share] < end;
        (0..self.len()).filter(free).min_by_key(|&share| self.turns[share])
    }

    /// Takes the share, and the number of the batch that it takes next.
    pub fn take(&mut self, share: usize) -> Option<(u64, Share<F>)> {
        let taken = self.shares[share].take()?;
        self.turns[share] += 1;
        Some((self.turns[share] - 1, taken))
    }

    /// Puts a share back.
    pub fn put(&mut self, number: usize, share: Share<F>) {
        self.shares[number] = Some(share);
    }

    /// Takes all shares, none of which a worker has.
    pub fn take_all(&mut self) -> Vec<Share<F>> {
        self.shares.drain(..).flatten().collect()
    }

    /// Puts all shares back.
    pub fn put_all(&mut self, shares: Vec<Share<F>>) {
        self.shares = shares.into_iter().map(Some).collect();
        self.turns.resize(self.shares.len(), 0);
    }
}
