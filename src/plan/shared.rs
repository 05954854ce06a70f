//! What the requests of a stage share: the texts that a prefix cache can find.

use super::request::{Phase, PlannedRequest, Prefix};
use crate::spec::{Class, OutputLength, PrefixSharing, ReplayRow, Tenants};
use crate::trace::BLOCK_TOKENS;

/// Shared texts of a stage that are sent ahead of it at most; more would take longer than the stage.
pub const MOST_SHARED: usize = 10_000;

/// One shared text, as a request that ends right behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The request; its number tells it from the stage's own.
    pub request: PlannedRequest,
    /// Ids of the blocks that it consists of; none where it is a prefix.
    pub blocks: Vec<u64>,
}

/// Shared texts are numbered from here on, beyond all requests of a stage.
const NUMBERS: u32 = 3_000_000_000;

/// The prefixes of each class, for each of its tenants.
pub(super) fn prefixes(classes: &[Class]) -> Vec<Shared> {
    let all = classes.iter().enumerate().flat_map(|(index, class)| {
        let tenants = class.tenants.as_ref().map_or(1, Tenants::count);
        let has_tenants = class.tenants.is_some();
        let groups = class.prefix.iter().flat_map(move |sharing| {
            (0..tenants).flat_map(move |tenant| {
                (0..sharing.groups).map(move |group| (tenant, group, sharing.tokens))
            })
        });
        groups.map(move |(tenant, group, tokens)| Shared {
            request: PlannedRequest {
                tenant: has_tenants.then_some(tenant),
                prefix: Some(Prefix { group, tokens }),
                ..request(index as u32, tokens)
            },
            blocks: Vec::new(),
        })
    });
    numbered(all)
}

/// The longest runs of blocks with which two rows or more begin.
///
/// Rows of blocks 1 2 3, 1 2 4 and 5 share 1 2 and nothing else.
pub(super) fn blocks(rows: &[ReplayRow]) -> Vec<Shared> {
    let mut paths: Vec<&[u64]> = rows.iter().map(|row| row.blocks.as_slice()).collect();
    paths.sort_unstable();
    let mut shared: Vec<&[u64]> = paths
        .windows(2)
        .map(|pair| {
            let same = pair[0].iter().zip(pair[1]).take_while(|(a, b)| a == b);
            &pair[0][..same.count()]
        })
        .filter(|path| !path.is_empty())
        .collect();
    shared.sort_unstable();
    shared.dedup();
    // What another one begins with comes with it.
    let longest = shared.iter().enumerate().filter(|&(index, path)| {
        let next = shared.get(index + 1);
        !next.is_some_and(|next| next.starts_with(path))
    });
    numbered(longest.map(|(_, path)| Shared {
        request: request(0, path.len() as u32 * BLOCK_TOKENS),
        blocks: path.to_vec(),
    }))
}

fn request(class: u32, tokens: u32) -> PlannedRequest {
    PlannedRequest {
        phase: Phase::Warmup,
        number: NUMBERS,
        class,
        tenant: None,
        row: None,
        turn: None,
        input_tokens: tokens.saturating_add(PrefixSharing::BEYOND),
        output_tokens: 1,
        output_length: OutputLength::Pinned,
        prefix: None,
        cancel_after: None,
    }
}

fn numbered(shared: impl Iterator<Item = Shared>) -> Vec<Shared> {
    let mut shared: Vec<Shared> = shared.take(MOST_SHARED).collect();
    for (one, number) in shared.iter_mut().zip(NUMBERS..) {
        one.request.number = number;
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Length;
    use crate::unit::Nanos;

    #[test]
    fn each_tenants_groups_are_shared_texts() {
        let class = |tenants| Class {
            tenants,
            prefix: Some(PrefixSharing {
                tokens: 64,
                groups: 3,
                share: 0.5,
            }),
            ..Class::new("a".parse().unwrap(), Length::Fixed(100), Length::Fixed(5))
        };
        assert_eq!(prefixes(&[class(None)]).len(), 3);
        let shared = prefixes(&[class(Some(Tenants::new(4, 1.0))), class(None)]);
        assert_eq!(shared.len(), 15);
        let last = shared[11].request;
        assert_eq!((last.tenant, last.prefix.unwrap().group), (Some(3), 2));
        assert_eq!(last.input_tokens, 80);
    }

    #[test]
    fn the_longest_shared_runs_of_blocks_are_found() {
        let row = |blocks: &[u64]| ReplayRow {
            at: Nanos::ZERO,
            class: 0,
            input_tokens: 2000,
            output_tokens: 5,
            blocks: blocks.to_vec(),
        };
        let rows = [&[1, 2, 3][..], &[5], &[1, 2, 4], &[1, 2, 4], &[7, 8], &[]].map(row);
        let found: Vec<Vec<u64>> = blocks(&rows).into_iter().map(|one| one.blocks).collect();
        assert_eq!(found, [vec![1, 2, 4]]);
        let rows = [&[1, 2, 3][..], &[1, 2, 4], &[6, 7], &[6, 8]].map(row);
        let found: Vec<Vec<u64>> = blocks(&rows).into_iter().map(|one| one.blocks).collect();
        assert_eq!(found, [vec![1, 2], vec![6]]);
    }
}
