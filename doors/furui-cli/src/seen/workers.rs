use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use furui::seen::Recent;

use super::decider::Decider;
use super::ending::Ending;
use super::printing::Printing;
use super::queue::{Queue, Task};
use super::writer::{Writer, Written};
use crate::input::blocks::Next;

/// Threads that move the batches of a queue from the input to the output. Each worker repeatedly takes a piece of work
/// that can be done.
///
/// The program does not wait for the workers before it ends: one may still wait for input when another finds that
/// nobody reads the output.
pub struct Workers {
    shared: Mutex<Shared>,
    /// Notified when a worker that waits for work can do something, and at the end.
    changed: Condvar,
    /// Notified when a worker thread ends.
    ended: Condvar,
    printing: Printing,
    wants_repeats: bool,
}

struct Shared {
    queue: Queue,
    /// The number of workers that wait for work.
    idle: usize,
}

/// The result of [`Workers::run`]: the reason why the run ended, and the parts of the queue that are still needed.
pub struct Rest {
    pub decider: Box<Decider>,
    pub writer: Box<Writer>,
    pub ending: Ending,
    /// The number of the set's keys whose lines were not printed. They are the keys that were inserted last.
    pub unprinted: usize,
}

/// The size of the stack of a worker, in bytes.
const STACK: usize = 1 << 20;

/// The maximum number of bytes of memory that the start of a worker takes.
const START: usize = STACK + (256 << 10);

/// The exit code of a program that panics.
const PANICKED: i32 = 101;

/// Ends the process if its thread panics, because the other threads would wait forever for the objects that this thread
/// holds.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::exit(PANICKED);
        }
    }
}

impl Workers {
    /// Moves all batches to the output, with at most this many threads.
    pub fn run(queue: Queue, printing: Printing, threads: usize) -> Rest {
        let wants_repeats = queue.writer.as_ref().is_some_and(|writer| writer.byproducts.wants_repeats());
        let shared = Mutex::new(Shared { queue, idle: 0 });
        let workers =
            Arc::new(Self { shared, changed: Condvar::new(), ended: Condvar::new(), printing, wants_repeats });
        if threads == 1 || !workers.start(threads) {
            workers.work();
        }
        let mut shared = workers.lock();
        loop {
            let queue = &mut shared.queue;
            if queue.ending.is_some() && queue.decider.is_some() && queue.writer.is_some() {
                let unprinted = queue.unprinted();
                if let Some(shares) = queue.take_shares()
                    && let (Some(mut decider), Some(writer), Some(ending)) =
                        (queue.decider.take(), queue.writer.take(), queue.ending.take())
                {
                    let ending = match decider.join(shares) {
                        Ok(()) => ending,
                        Err(error) => Ending::Broken(error),
                    };
                    return Rest { decider, writer, ending, unprinted };
                }
            }
            shared = wait(&workers.ended, shared, None);
        }
    }

    /// Starts this many workers, or fewer if the system cannot start all of them. Returns false if none was started.
    fn start(self: &Arc<Self>, threads: usize) -> bool {
        // No worker begins its work before all have started. Otherwise a worker might find no memory for its start,
        // which would end the process.
        let _shared = self.lock();
        (0..threads).take_while(|_| self.start_one()).count() > 0
    }

    /// Starts a worker, which waits for the lock. Returns false if it cannot be started.
    fn start_one(self: &Arc<Self>) -> bool {
        if Vec::<u8>::new().try_reserve_exact(START).is_err() {
            return false;
        }
        let (this, (begins, begun)) = (Arc::clone(self), mpsc::channel());
        let work = move || {
            let _guard = Guard;
            // The thread that starts this worker waits for this message.
            let _ = begins.send(());
            this.work();
        };
        thread::Builder::new().name("worker".into()).stack_size(STACK).spawn(work).is_ok() && begun.recv().is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes another worker if there is work that can be done besides that of this worker.
    fn relay(self: &Arc<Self>, shared: &mut Shared) {
        match shared.queue.choose() {
            None => {}
            Some(task) if !shared.queue.is_worth_waking(task) => {}
            // One processor is left to the thread that decodes.
            Some(_) if shared.idle > usize::from(shared.queue.is_decoded) => self.changed.notify_one(),
            Some(_) => {}
        }
    }

    fn work(self: &Arc<Self>) {
        let mut recent = None;
        loop {
            let mut shared = self.lock();
            let task = loop {
                if shared.queue.ending.is_some() {
                    self.changed.notify_all();
                    self.ended.notify_all();
                    return;
                }
                if let Some(task) = shared.queue.choose() {
                    break task;
                }
                shared.idle += 1;
                // If the deadline has passed, another worker holds the set. The lines are recorded after that worker
                // has put the set back.
                let until = shared.queue.deadline().filter(|&due| due > Instant::now());
                shared = wait(&self.changed, shared, until);
                shared.idle -= 1;
            };
            match task {
                Task::Sync => self.sync(shared),
                Task::Write => self.write(shared),
                Task::Decide => self.decide(shared),
                Task::MakeRoom => self.make_room(shared),
                Task::Observe(share) => self.observe(shared, share),
                Task::Read => self.read(shared, &mut recent),
            };
        }
    }

    /// Releases the mutex, so that this worker can do the work that it has taken out of the queue. Another worker is
    /// woken if there is further work.
    fn leave(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>) {
        self.relay(&mut shared);
    }

    fn sync(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>) -> Option<()> {
        let queue = &mut shared.queue;
        let unprinted = queue.unprinted();
        let (mut decider, mut writer) = (queue.decider.take()?, queue.writer.take()?);
        self.leave(shared);
        let synced = Ending::of(writer.recorder.sync(&mut decider.judge, unprinted));
        let queue = &mut self.lock().queue;
        queue.unsynced = decider.judge.unsynced();
        (queue.decider, queue.writer) = (Some(decider), Some(writer));
        let failed = synced.err().map(|ending| queue.explain(ending));
        queue.ending = queue.ending.take().or(failed);
        Some(())
    }

    fn write(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>) -> Option<()> {
        let unsynced = shared.queue.unsynced;
        let (mut writer, mut batch) = shared.queue.take_writer()?;
        self.leave(shared);
        let written = writer.write(&mut batch, unsynced);
        let queue = &mut self.lock().queue;
        queue.writer = Some(writer);
        match written {
            Written::Whole => queue.leave(batch),
            Written::Part => queue.put_first(batch),
            Written::Ended(ending) => {
                // A batch that the writer has not begun stays in the queue: its lines are neither printed nor
                // recorded.
                if matches!(ending, Ending::Failed(_)) && batch.is_begun {
                    queue.leave(batch);
                }
                queue.ending = Some(ending);
            }
        }
        Some(())
    }

    fn decide(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>) -> Option<()> {
        let queue = &mut shared.queue;
        let mut writer = if !queue.is_split() && queue.syncs() { queue.writer.take() } else { None };
        let (number, mut decider, mut batch) = queue.take_decider()?;
        self.leave(shared);
        let settled = settle(writer.as_deref_mut(), &mut decider);
        if settled.is_ok() {
            decider.decide(&mut batch);
        }
        let mut shared = self.lock();
        let queue = &mut shared.queue;
        queue.put_decider(number, decider, &batch);
        queue.writer = queue.writer.take().or(writer);
        queue.ending = queue.ending.take().or(settled.err());
        if batch.is_void {
            // The next sync fails for the same reason, and must find the first error.
            batch.prepare(self.printing, self.wants_repeats);
            queue.put(number, batch);
            return Some(());
        }
        self.leave(shared);
        batch.prepare(self.printing, self.wants_repeats);
        self.lock().queue.put(number, batch);
        Some(())
    }

    /// Makes room in the shares of the set, all of which are in the queue.
    fn make_room(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>) -> Option<()> {
        let queue = &mut shared.queue;
        let mut writer = if queue.syncs() { queue.writer.take() } else { None };
        let (number, mut decider, mut shares, mut batch) = queue.take_all()?;
        self.leave(shared);
        let settled = settle(writer.as_deref_mut(), &mut decider);
        if settled.is_ok() {
            shares = decider.make_room(&mut batch, shares);
        }
        let queue = &mut self.lock().queue;
        queue.put_all(number, decider, shares, batch);
        queue.writer = queue.writer.take().or(writer);
        queue.ending = queue.ending.take().or(settled.err());
        Some(())
    }

    /// Lets the share of the set with the index `index` insert its part of a batch.
    fn observe(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>, index: usize) -> Option<()> {
        let (number, mut share, mut part) = shared.queue.take_share(index)?;
        self.leave(shared);
        let failure = share.observe(&mut part).err().map(Into::into);
        self.lock().queue.put_share(index, share, number, part, failure);
        Some(())
    }

    /// Reads a block of lines into a batch, and hashes their keys. Because a worker reads blocks in the order of the
    /// input, the worker's recent cache knows only keys of earlier lines.
    fn read(self: &Arc<Self>, mut shared: MutexGuard<'_, Shared>, recent: &mut Option<Recent<u64, 1>>) -> Option<()> {
        let until = shared.queue.deadline();
        let (mut reader, mut batch) = shared.queue.take_reader()?;
        self.leave(shared);
        batch.reset();
        match reader.read(&mut batch.block, until) {
            Ok(Next::Block) => match batch.keys.header(&batch.block) {
                Ok(header) => batch.header = header,
                Err(error) => batch.fail(error),
            },
            Ok(next) => {
                let queue = &mut self.lock().queue;
                queue.put_reader(reader, batch);
                if let Next::End = next {
                    queue.end_reading();
                }
                return Some(());
            }
            Err(error) => batch.fail(error),
        }
        let mut shared = self.lock();
        let number = shared.queue.put_read(reader, &batch)?;
        let keys = shared.queue.recent_keys;
        self.leave(shared);
        if recent.as_ref().map(Recent::capacity) != keys {
            // Without memory for a cache, the set answers for all keys.
            *recent = keys.and_then(|keys| Recent::new(keys).ok());
        }
        batch.hash(recent.as_mut());
        self.lock().queue.put(number, batch);
        Some(())
    }
}

/// Waits until all printed lines have reached the file or the reader.
fn settle(writer: Option<&mut Writer>, decider: &mut Decider) -> Result<(), Ending> {
    writer.map_or(Ok(()), |writer| Ending::of(writer.recorder.settle(&mut decider.judge, 0)))
}

/// Waits until the queue has changed, at most until `until`.
fn wait<'a>(changed: &Condvar, shared: MutexGuard<'a, Shared>, until: Option<Instant>) -> MutexGuard<'a, Shared> {
    match until {
        None => changed.wait(shared).unwrap_or_else(PoisonError::into_inner),
        Some(until) => {
            let within = until.saturating_duration_since(Instant::now());
            changed.wait_timeout(shared, within).unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
