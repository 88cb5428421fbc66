//! Whole numbers, or gaps between them, in few bits.

/// Numbers of a block.
const BLOCK: usize = 256;

/// A list of numbers and gaps in blocks: each number is its distance from the least one of its block, in as many bits as
/// the greatest distance of the block needs.
#[derive(Debug, Default)]
pub(super) struct Packed {
    blocks: Vec<Block>,
    words: Vec<u64>,
    /// The last numbers, which do not fill a block.
    open: Vec<Option<i64>>,
}

#[derive(Debug)]
struct Block {
    least: i64,
    /// The position of its first word.
    word: u32,
    bits: u8,
}

impl Packed {
    /// The numbers of all entries.
    pub(super) fn len(&self) -> usize {
        self.blocks.len() * BLOCK + self.open.len()
    }

    /// The memory that is used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>() + self.blocks.len() * size_of::<Block>()
    }

    /// Adds a number; `None` is a gap.
    pub(super) fn push(&mut self, number: Option<i64>) {
        self.open.push(number);
        if self.open.len() == BLOCK {
            self.close();
        }
    }

    /// The number at this position; `None` if there is a gap, or nothing.
    pub(super) fn get(&self, at: usize) -> Option<i64> {
        let Some(block) = self.blocks.get(at / BLOCK) else {
            return self.open.get(at - self.blocks.len() * BLOCK).copied().flatten();
        };
        let first = (at % BLOCK) * usize::from(block.bits);
        let (word, shift) = (block.word as usize + first / 64, first % 64);
        let low = self.words.get(word).copied().unwrap_or_default() >> shift;
        let is_split = shift + usize::from(block.bits) > 64;
        let high =
            if is_split { self.words.get(word + 1).copied().unwrap_or_default() << (64 - shift) } else { 0 };
        let code = (low | high) & mask(block.bits);
        // A gap is zero.
        code.checked_sub(1).map(|distance| block.least.wrapping_add_unsigned(distance))
    }

    fn close(&mut self) {
        let numbers = || self.open.iter().copied().flatten();
        let (least, greatest) = (numbers().min().unwrap_or_default(), numbers().max().unwrap_or_default());
        let codes = u128::from(greatest.abs_diff(least)) + 1;
        let bits = (u128::BITS - codes.leading_zeros()).min(64);
        let word = self.words.len();
        let (mut current, mut used) = (0_u64, 0);
        for number in self.open.drain(..) {
            let code = number.map_or(0, |number| number.abs_diff(least).wrapping_add(1));
            current |= code << used;
            used += bits;
            if used >= 64 {
                self.words.push(current);
                used -= 64;
                current = if used > 0 { code >> (bits - used) } else { 0 };
            }
        }
        // A block has at most 64 bits for each number, and tables have fewer than 2^32 rows.
        let (word, bits) = (u32::try_from(word).unwrap_or(u32::MAX), u8::try_from(bits).unwrap_or(64));
        self.blocks.push(Block { least, word, bits });
    }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
