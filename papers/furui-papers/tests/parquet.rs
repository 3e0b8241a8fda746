//! The split-block filter tested against the crate `parquet`: each reads the other's files.

#![cfg(feature = "rivals")]
#![expect(clippy::unwrap_used, reason = "the helpers are test code too")]

use std::sync::Arc;

use bytes::Bytes;
use furui::filter::{Filter, FilterMut, SplitBlockBloom};
use parquet::basic::{Repetition, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{ReaderProperties, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// The number of rows of the file. The values of row i are made from i.
const ROWS: u64 = 3000;
/// The number of values that are looked up although they are not in the file.
const OTHERS: u64 = 100_000;

fn url(i: u64) -> Vec<u8> {
    format!("https://example.org/{i}").into_bytes()
}

fn id(i: u64) -> i64 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15).cast_signed()
}

fn score(i: u64) -> f64 {
    i as f64 / 7.0
}

/// A Parquet file of three columns, each with a Bloom filter.
fn file() -> Vec<u8> {
    let column = |name, physical| {
        Arc::new(Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED).build().unwrap())
    };
    let columns =
        vec![column("url", Physical::BYTE_ARRAY), column("id", Physical::INT64), column("score", Physical::DOUBLE)];
    let schema = Arc::new(Type::group_type_builder("row").with_fields(columns).build().unwrap());
    let properties = WriterProperties::builder().set_bloom_filter_enabled(true).set_bloom_filter_fpp(0.01).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut next = rows.next_column().unwrap().unwrap();
    let urls: Vec<ByteArray> = (0..ROWS).map(|i| url(i).into()).collect();
    next.typed::<ByteArrayType>().write_batch(&urls, None, None).unwrap();
    next.close().unwrap();
    let mut next = rows.next_column().unwrap().unwrap();
    let ids: Vec<i64> = (0..ROWS).map(id).collect();
    next.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
    next.close().unwrap();
    let mut next = rows.next_column().unwrap().unwrap();
    let scores: Vec<f64> = (0..ROWS).map(score).collect();
    next.typed::<DoubleType>().write_batch(&scores, None, None).unwrap();
    next.close().unwrap();
    rows.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// The filters of the three columns as the crate reads them, each with the metadata of its column, which say where in
/// the file the filter is.
fn filters(file: &[u8]) -> Vec<(Sbbf, ColumnChunkMetaData)> {
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    let reader = SerializedFileReader::new_with_options(Bytes::copy_from_slice(file), options).unwrap();
    let rows = reader.get_row_group(0).unwrap();
    (0..3).map(|i| (rows.get_column_bloom_filter(i).unwrap().clone(), rows.metadata().column(i).clone())).collect()
}

#[test]
fn filters_in_a_file_that_the_crate_wrote_are_read_and_written_bit_for_bit() {
    let file = file();
    let plain: [fn(u64) -> Vec<u8>; 3] = [url, |i| id(i).to_le_bytes().to_vec(), |i| score(i).to_le_bytes().to_vec()];
    for ((theirs, column), plain) in filters(&file).into_iter().zip(plain) {
        let start = column.bloom_filter_offset().unwrap() as usize;
        let whole = &file[start..][..column.bloom_filter_length().unwrap() as usize];
        let ours = SplitBlockBloom::from_parquet(&file[start..]).unwrap();
        let hash = ours.hash_spec();
        for i in 0..ROWS + OTHERS {
            let value = plain(i);
            assert_eq!(ours.contains_hash(hash.hash(&value)), theirs.check(&value[..]), "{} {i}", column.column_path());
            assert!(i >= ROWS || theirs.check(&value[..]));
        }

        let mut written = Vec::new();
        ours.to_parquet(&mut written).unwrap();
        assert_eq!(written, whole);

        let mut built = SplitBlockBloom::from_parts(ours.blocks()).unwrap();
        let keys: Vec<_> = (0..ROWS).map(|i| hash.hash(&plain(i))).collect();
        built.insert_all(&keys).unwrap();
        assert_eq!(built, ours);
    }
}

#[test]
fn the_crate_reads_what_was_built_here() {
    let mut filter = SplitBlockBloom::for_parquet(ROWS, 0.01).unwrap();
    let hash = filter.hash_spec();
    for i in 0..ROWS {
        filter.insert_hash(hash.hash(&url(i))).unwrap();
    }
    let mut bytes = Vec::new();
    filter.to_parquet(&mut bytes).unwrap();
    let theirs = Sbbf::from_bytes(&bytes).unwrap();
    for i in 0..ROWS + OTHERS {
        assert_eq!(theirs.check(&url(i)[..]), filter.contains_hash(hash.hash(&url(i))), "{i}");
    }
    let mut again = Vec::new();
    theirs.write(&mut again).unwrap();
    assert_eq!(again, bytes);
}

#[test]
fn a_number_of_blocks_that_is_no_power_of_two_means_the_same_to_both() {
    // The specification allows this header, and the crate reads it, but never writes it.
    let mut filter = SplitBlockBloom::with_rate(ROWS, 0.01).unwrap();
    assert!(!filter.blocks().is_power_of_two());
    let hash = filter.hash_spec();
    for i in 0..ROWS {
        filter.insert_hash(hash.hash(&url(i))).unwrap();
    }
    let mut theirs = Sbbf::new(&vec![0; filter.blocks() as usize * 32]);
    (0..ROWS).for_each(|i| theirs.insert(&url(i)[..]));
    let mut bytes = Vec::new();
    theirs.write(&mut bytes).unwrap();
    assert_eq!(SplitBlockBloom::from_parquet(&bytes).unwrap().blocks(), filter.blocks());
    for i in 0..ROWS + OTHERS {
        assert_eq!(theirs.check(&url(i)[..]), filter.contains_hash(hash.hash(&url(i))), "{i}");
    }
}

/// `cargo test -p furui-papers --features rivals -- --ignored golden` writes the golden file again.
#[test]
#[ignore = "writes the golden file"]
fn golden() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../core/furui/tests/golden/v1/parquet.bloom");
    let mut filter = Sbbf::new_with_ndv_fpp(100, 0.01).unwrap();
    (0..100).for_each(|i| filter.insert(&url(i)[..]));
    let mut bytes = Vec::new();
    filter.write(&mut bytes).unwrap();
    std::fs::write(path, bytes).unwrap();
}
