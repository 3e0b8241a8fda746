//! Storage that fails at each operation.

use furui::dict::{DictOptions, Job};
use furui::error::StoreProblem;
use furui::store::Storage;
use furui::{Error, Result};

use crate::dict::made::{MADE, Model, SMALL, three_tries};
use crate::dict::values::Values;
use crate::support::{Failing, Fault};

/// Any operation may fail while write buffers are frozen, tries are merged and finished jobs are installed. Durable
/// entries stay durable, answers are right, and a dictionary that failed in a change refuses all later changes.
#[test]
fn every_fault_is_an_error_and_harms_nothing() {
    // The kind of filter makes no difference to the storage.
    MADE.into_iter().take(2).for_each(every_fault::<u32>);
}

#[test]
fn every_fault_of_a_dictionary_of_bytes_is_an_error_and_harms_nothing() {
    MADE.into_iter().take(2).for_each(every_fault::<[u8]>);
}

fn every_fault<V: Values + ?Sized>(made: DictOptions) {
    let (start, old) = three_tries::<V>(made);
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&start, at, fault);
            let mut acknowledged = old.clone();
            let outcome = work::<V>(&storage, &mut acknowledged);
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 60, "the fault struck at only {at} operations");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut dict = V::open(left.clone(), SMALL).unwrap();
                dict.verify().unwrap();
                for (key, value) in &acknowledged {
                    assert_eq!(dict.get(key).unwrap(), Some(V::lent(value)), "{fault:?} at {at}: {key:?}");
                }
                assert_eq!(left.list().unwrap().len(), 1 + dict.tries().count(), "{fault:?} at {at}");
                // The next process continues.
                let more = V::value(1);
                V::put(&mut dict, b"more", &more).unwrap();
                dict.compact().unwrap();
                assert_eq!(V::open(left, SMALL).unwrap().get(b"more").unwrap(), Some(V::lent(&more)));
            }
        }
    }
}

/// Inserts keys, runs jobs and syncs. The entries in `acknowledged` are durable.
fn work<V: Values + ?Sized>(storage: &Failing, acknowledged: &mut Model<V>) -> Result<()> {
    let mut dict = V::open(storage.clone(), SMALL)?;
    let (mut put, mut failed_in_a_job) = (Model::<V>::new(), false);
    let mut run = |job: Job<Failing>| job.run().inspect_err(|_| failed_in_a_job = true);
    let outcome = (|| {
        for i in 0..17u32 {
            let (key, value) = (format!("new {i}").into_bytes(), V::value(i));
            V::put(&mut dict, &key, &value)?;
            put.insert(key, value);
            if i % 3 == 0
                && let Some(job) = dict.job()?
            {
                dict.install(run(job)?)?;
            }
        }
        dict.sync()?;
        acknowledged.append(&mut put);
        while let Some(job) = dict.job()? {
            dict.install(run(job)?)?;
        }
        V::put(&mut dict, b"late", &V::value(1))?;
        dict.compact()
    })();
    if outcome.is_err() {
        for (key, value) in acknowledged.iter() {
            assert_eq!(dict.get(key).unwrap(), Some(V::lent(value)));
        }
        // A job that failed has changed nothing; any other failure was one of a change.
        if !failed_in_a_job {
            let put = V::put(&mut dict, b"later", &V::value(1));
            for refused in [put, dict.delete(b"new 1"), dict.sync(), dict.compact(), dict.job().map(drop)] {
                let problem = refused.unwrap_err();
                assert!(matches!(&problem, Error::Store(error) if error.problem == StoreProblem::Failed), "{problem}");
            }
        }
    }
    outcome
}
