//! Huffman codes of bounded lengths, as deflate has them (RFC 1951, section 3.2.2).

/// Bits of each symbol's code, 0 for what does not occur: Huffman's, where none is longer than `most`. Two symbols or more must occur.
pub fn lengths(counts: &[u32], most: usize) -> Vec<u8> {
    let mut leaves: Vec<(u32, usize)> = counts.iter().copied().zip(0..).filter(|leaf| leaf.0 > 0).collect();
    leaves.sort_unstable();
    let mut of_length = bounded(&depths(&leaves), most);
    let mut lengths = vec![0; counts.len()];
    // What is rare comes first, and gets what is longest.
    let mut length = most;
    for (_, symbol) in leaves {
        while of_length[length] == 0 {
            length -= 1;
        }
        of_length[length] -= 1;
        lengths[symbol] = length as u8;
    }
    lengths
}

/// How deep each leaf lies in Huffman's tree; `leaves` from rare to frequent. Inner nodes are made from rare to frequent too.
fn depths(leaves: &[(u32, usize)]) -> Vec<usize> {
    let count = leaves.len();
    let mut weights: Vec<u32> = leaves.iter().map(|leaf| leaf.0).collect();
    let mut parents = vec![0; 2 * count - 1];
    let (mut leaf, mut inner) = (0, count);
    for node in count..2 * count - 1 {
        let mut lightest = || {
            let next =
                if leaf < count && (inner == node || weights[leaf] <= weights[inner]) { &mut leaf } else { &mut inner };
            *next += 1;
            *next - 1
        };
        let pair = [lightest(), lightest()];
        weights.push(pair.map(|child| weights[child]).iter().sum());
        pair.into_iter().for_each(|child| parents[child] = node);
    }
    let mut depths = vec![0; 2 * count - 1];
    for node in (0..2 * count - 2).rev() {
        depths[node] = depths[parents[node]] + 1;
    }
    depths.truncate(count);
    depths
}

/// How many codes have each length, once those that are longer than `most` have been shortened and others made longer for them.
fn bounded(depths: &[usize], most: usize) -> Vec<usize> {
    let mut of_length = vec![0; most + 1];
    depths.iter().for_each(|&depth| of_length[depth.min(most)] += 1);
    // In units of the longest code; a code of one bit takes half of all there are.
    let mut taken: usize = (1..=most).map(|length| of_length[length] << (most - length)).sum();
    while taken > 1 << most {
        let longer = (1..most).rev().find(|&length| of_length[length] > 0).unwrap_or(1);
        of_length[longer] -= 1;
        of_length[longer + 1] += 2;
        of_length[most] -= 1;
        taken -= 1;
    }
    of_length
}

/// The code of each symbol, the bit that is written first as the lowest.
pub fn codes(lengths: &[u8]) -> Vec<u32> {
    let mut codes = vec![0; lengths.len()];
    let mut next = 0_u32;
    for length in 1..=15 {
        next <<= 1;
        for (code, _) in codes.iter_mut().zip(lengths).filter(|(_, of)| **of == length) {
            *code = next.reverse_bits() >> (32 - length);
            next += 1;
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_specification() {
        let codes = codes(&[3, 3, 3, 3, 3, 2, 4, 4]);
        let written = [0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111];
        assert_eq!(codes, written);
    }

    #[test]
    fn what_is_frequent_has_a_short_code() {
        assert_eq!(lengths(&[1, 0, 2, 8, 4, 1], 15), [4, 0, 3, 1, 2, 4]);
    }

    #[test]
    fn no_code_is_too_long_and_none_is_left_over() {
        let mut fibonacci = vec![1, 1];
        (2..24).for_each(|n| fibonacci.push(fibonacci[n - 1] + fibonacci[n - 2]));
        for most in [7, 15] {
            let lengths = lengths(&fibonacci, most);
            let taken: usize = lengths.iter().map(|&length| 1 << (most - length as usize)).sum();
            assert_eq!((lengths.iter().max(), taken), (Some(&(most as u8)), 1 << most));
            assert!(lengths.is_sorted_by(|a, b| a >= b), "{lengths:?}");
        }
    }
}
