//! The paged KV cache: reference-counted blocks, shared by equal prefixes.
//!
//! A block that nobody holds keeps its content until its place is needed, oldest first. A prefix
//! is found by the hash of its block and of all blocks before it, so only full, equal blocks are
//! shared, and only from the first token on.

use std::collections::{BTreeMap, HashMap};

/// The place of a block.
pub(super) type BlockId = u32;

#[derive(Debug, Clone, Copy, Default)]
struct Block {
    holders: u32,
    /// The key under which others find it.
    hash: Option<u64>,
    /// When its last holder let go; its key in `idle`.
    released: u64,
}

/// A fixed number of blocks.
#[derive(Debug)]
pub(super) struct Kv {
    blocks: Vec<Block>,
    /// Never used, or without content that anyone could find.
    blank: Vec<BlockId>,
    /// Held by nobody but findable, by the time of release.
    idle: BTreeMap<u64, BlockId>,
    findable: HashMap<u64, BlockId>,
    releases: u64,
    /// Blocks that nothing fits into any more.
    wasted: usize,
}

impl Kv {
    /// An empty cache of that many blocks.
    pub(super) fn new(blocks: usize) -> Self {
        let ids = 0..u32::try_from(blocks).unwrap_or(u32::MAX);
        Self {
            blocks: vec![Block::default(); ids.len()],
            blank: ids.rev().collect(),
            idle: BTreeMap::new(),
            findable: HashMap::new(),
            releases: 0,
            wasted: 0,
        }
    }

    /// Blocks that can be taken: blank ones and those that nobody holds.
    pub(super) fn available(&self) -> usize {
        self.blank.len() + self.idle.len()
    }

    /// Makes blocks useless until so many are, as far as nobody holds them.
    pub(super) fn waste(&mut self, wanted: usize) {
        while self.wasted < wanted && self.take().is_some() {
            self.wasted += 1;
        }
    }

    /// Blocks that are of use.
    pub(super) fn usable(&self) -> usize {
        self.blocks.len() - self.wasted
    }

    /// The share of blocks in use, 0 to 1; useless ones are.
    pub(super) fn usage(&self) -> f64 {
        1.0 - self.available() as f64 / self.blocks.len().max(1) as f64
    }

    /// Takes the longest cached run of these blocks, from the first on.
    pub(super) fn share(&mut self, hashes: &[u64]) -> Vec<BlockId> {
        let found: Vec<BlockId> = hashes
            .iter()
            .map_while(|hash| self.findable.get(hash).copied())
            .collect();
        for id in &found {
            let block = &mut self.blocks[*id as usize];
            if block.holders == 0 {
                self.idle.remove(&block.released);
            }
            block.holders += 1;
        }
        found
    }

    /// Takes a block for new content; forgets the oldest idle one where no blank is left.
    pub(super) fn take(&mut self) -> Option<BlockId> {
        let id = match self.blank.pop() {
            Some(id) => id,
            None => self.idle.pop_first()?.1,
        };
        let block = &mut self.blocks[id as usize];
        if let Some(hash) = block.hash.take() {
            self.findable.remove(&hash);
        }
        block.holders = 1;
        Some(id)
    }

    /// Lets others find a full, computed block. The first block of equal content stays.
    pub(super) fn publish(&mut self, id: BlockId, hash: u64) {
        let block = &mut self.blocks[id as usize];
        if block.hash.is_none() && !self.findable.contains_key(&hash) {
            block.hash = Some(hash);
            self.findable.insert(hash, id);
        }
    }

    /// Forgets all content: what nobody holds is blank, what is held is found by nobody.
    pub(super) fn forget(&mut self) {
        self.findable.clear();
        self.blank
            .extend(std::mem::take(&mut self.idle).into_values());
        self.blocks.iter_mut().for_each(|block| block.hash = None);
    }

    /// Lets go of a sequence's blocks, the last first, so that the start of a prefix lives longest.
    pub(super) fn release(&mut self, blocks: &mut Vec<BlockId>) {
        while let Some(id) = blocks.pop() {
            let block = &mut self.blocks[id as usize];
            block.holders -= 1;
            if block.holders > 0 {
                continue;
            }
            if block.hash.is_some() {
                self.releases += 1;
                block.released = self.releases;
                self.idle.insert(self.releases, id);
            } else {
                self.blank.push(id);
            }
        }
    }
}

/// The keys of a text's full blocks, each over all tokens up to the block's end.
pub(super) fn block_hashes(tokens: &[u32], block_size: usize) -> Vec<u64> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    tokens
        .chunks_exact(block_size)
        .map(|block| {
            for token in block {
                hash = (hash ^ u64::from(*token)).wrapping_mul(0x0100_0000_01b3);
                // FNV's low bits only see low bits; blocks differ in few tokens, so mix well.
                hash ^= hash >> 29;
            }
            hash
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(n: u32) -> Vec<u32> {
        (0..n).collect()
    }

    #[test]
    fn only_full_blocks_have_a_hash_and_it_covers_all_before() {
        assert_eq!(block_hashes(&tokens(47), 16).len(), 2);
        let mut other = tokens(32);
        other[0] = 99;
        let (a, b) = (block_hashes(&tokens(32), 16), block_hashes(&other, 16));
        assert_ne!(a[1], b[1]);
        assert_eq!(a[..1], block_hashes(&tokens(16), 16));
    }

    #[test]
    fn a_released_prefix_is_found_until_its_place_is_needed() {
        let mut kv = Kv::new(3);
        let hashes = block_hashes(&tokens(32), 16);
        let mut held = vec![kv.take().unwrap(), kv.take().unwrap()];
        kv.publish(held[0], hashes[0]);
        kv.publish(held[1], hashes[1]);
        kv.release(&mut held);
        assert_eq!(kv.available(), 3);
        let mut shared = kv.share(&hashes);
        assert_eq!(shared.len(), 2);
        assert_eq!(kv.available(), 1);
        kv.release(&mut shared);

        // The blank block goes first, then the tail of the prefix, then its head.
        let mut held = vec![kv.take().unwrap(), kv.take().unwrap()];
        assert_eq!(kv.share(&hashes).len(), 1);
        assert_eq!(kv.take(), None);
        kv.release(&mut held);
        assert_eq!(kv.available(), 2);
    }

    #[test]
    fn a_shared_block_is_free_when_its_last_holder_lets_go() {
        let mut kv = Kv::new(1);
        let hashes = block_hashes(&tokens(16), 16);
        let mut first = vec![kv.take().unwrap()];
        kv.publish(first[0], hashes[0]);
        let mut second = kv.share(&hashes);
        kv.release(&mut first);
        assert_eq!(kv.take(), None);
        assert!((kv.usage() - 1.0).abs() < 1e-12);
        kv.release(&mut second);
        assert!(kv.take().is_some());
        assert!(kv.share(&hashes).is_empty());
    }
}
