//! Rival embedded stores, used as sets of 64-bit keys: the same keys for all, and no values.

use std::path::Path;

use heed::byteorder::{BigEndian, ByteOrder, NativeEndian};
use heed::types::{U64, Unit};
use heed::{
    Comparator, Database, DefaultComparator, Env, EnvFlags, EnvOpenOptions, IntegerComparator, MdbError, PutFlags,
};
use redb::{Durability, ReadableDatabase, TableDefinition, WriteTransaction};

use super::Store;
use crate::report::Result;

/// LMDB with byte order `O` and comparison `C` of keys. Nothing is forced to the device before the end.
pub(crate) struct Lmdb<O, C> {
    env: Env,
    keys: Database<U64<O>, Unit, C>,
}

impl Lmdb<BigEndian, DefaultComparator> {
    /// LMDB as it is by default: keys are byte strings.
    pub(crate) fn create(directory: &Path) -> Result<Self> {
        Self::with(directory, EnvFlags::NO_SYNC)
    }
}

impl Lmdb<NativeEndian, IntegerComparator> {
    /// LMDB with its fastest options: keys are numbers, and pages are written through the map.
    pub(crate) fn create_tuned(directory: &Path) -> Result<Self> {
        Self::with(directory, EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP)
    }
}

impl<O: ByteOrder + 'static, C: Comparator + 'static> Lmdb<O, C> {
    #[expect(unsafe_code, reason = "LMDB maps its file and does not sync it, both of which may lose it")]
    fn with(directory: &Path, flags: EnvFlags) -> Result<Self> {
        const MAP: usize = 4 << 30;
        let mut options = EnvOpenOptions::new();
        // SAFETY: the directory was just made by this process, and nobody else opens its files; if the machine dies, so
        // does the experiment.
        let env = unsafe { options.map_size(MAP).flags(flags).open(directory)? };
        let mut transaction = env.write_txn()?;
        let keys = env.database_options().types().key_comparator().create(&mut transaction)?;
        transaction.commit()?;
        Ok(Self { env, keys })
    }
}

impl<O: ByteOrder + 'static, C: Comparator + 'static> Store for Lmdb<O, C> {
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>> {
        let mut transaction = self.env.write_txn()?;
        let mut new = 0;
        for key in keys {
            match self.keys.put_with_flags(&mut transaction, PutFlags::NO_OVERWRITE, key, &()) {
                Ok(()) => new += 1,
                Err(heed::Error::Mdb(MdbError::KeyExist)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        transaction.commit()?;
        Ok(Some(new))
    }

    fn count(&mut self, keys: &[u64]) -> Result<Option<usize>> {
        let transaction = self.env.read_txn()?;
        let mut count = 0;
        for key in keys {
            count += usize::from(self.keys.get(&transaction, key)?.is_some());
        }
        Ok(Some(count))
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }
}

const KEYS: TableDefinition<'_, u64, ()> = TableDefinition::new("keys");

/// A redb database with a cache of a given size.
pub(crate) struct Redb(redb::Database);

impl Redb {
    pub(crate) fn create(directory: &Path, cache: usize) -> Result<Self> {
        Ok(Self(redb::Builder::new().set_cache_size(cache).create(directory.join("redb"))?))
    }

    fn begin(&self, durability: Durability) -> Result<WriteTransaction> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(durability)?;
        Ok(transaction)
    }
}

impl Store for Redb {
    /// The keys become durable with the next durable transaction.
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>> {
        let transaction = self.begin(Durability::None)?;
        let mut new = 0;
        {
            let mut table = transaction.open_table(KEYS)?;
            for key in keys {
                new += u64::from(table.insert(key, ())?.is_none());
            }
        }
        transaction.commit()?;
        Ok(Some(new))
    }

    fn count(&mut self, keys: &[u64]) -> Result<Option<usize>> {
        let transaction = self.0.begin_read()?;
        let table = transaction.open_table(KEYS)?;
        let mut count = 0;
        for key in keys {
            count += usize::from(table.get(key)?.is_some());
        }
        Ok(Some(count))
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.begin(Durability::Immediate)?.commit()?)
    }
}

/// A database of fjall, a log-structured merge tree. Of the memory given, a quarter is for new keys and the rest caches
/// blocks of files. Its background threads compact, so the whole process's time is to be measured.
pub(crate) struct Fjall {
    database: fjall::Database,
    keys: fjall::Keyspace,
}

impl Fjall {
    pub(crate) fn create(directory: &Path, memory: u64) -> Result<Self> {
        let database = fjall::Database::builder(directory).cache_size(memory / 4 * 3).open()?;
        let options = || fjall::KeyspaceCreateOptions::default().max_memtable_size(memory / 4);
        let keys = database.keyspace("keys", options)?;
        Ok(Self { database, keys })
    }
}

impl Store for Fjall {
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>> {
        let mut batch = self.database.batch();
        let mut new = 0;
        for key in keys.iter().map(|key| key.to_be_bytes()) {
            if !self.keys.contains_key(key)? {
                batch.insert(&self.keys, key.as_slice(), b"".as_slice());
                new += 1;
            }
        }
        batch.commit()?;
        Ok(Some(new))
    }

    fn count(&mut self, keys: &[u64]) -> Result<Option<usize>> {
        let mut count = 0;
        for key in keys {
            count += usize::from(self.keys.contains_key(key.to_be_bytes())?);
        }
        Ok(Some(count))
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.database.persist(fjall::PersistMode::SyncAll)?)
    }
}
