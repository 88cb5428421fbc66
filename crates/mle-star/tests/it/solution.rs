//! Code blocks: found exactly, replaced exactly, refused when in doubt.

use mle_star::solution::{BlockError, Solution, SolutionPhase};
use proptest::prelude::*;

fn solution(text: &str) -> Solution {
    Solution::new(text.to_owned(), SolutionPhase::Init)
}

#[test]
fn blocks_are_found_exactly_or_by_their_lines() {
    let check = |text: &str, quoted: &str, expected: Result<&str, BlockError>| {
        let found = solution(text).find_block(quoted).map(|block| block.as_str().to_owned());
        assert_eq!(found, expected.map(str::to_owned), "{quoted:?} in {text:?}");
    };
    check("a = 1\nb = 2\n", "b = 2", Ok("b = 2"));
    check("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 2\n", Ok("a = 1\nb = 2"));
    check("a = 1  \n\tb = 2\t\nc = 3\n", "a = 1\n\tb = 2", Ok("a = 1  \n\tb = 2\t"));
    check("a = 1\nb = 2", "a = 1   \nb = 2   ", Ok("a = 1\nb = 2"));
    check("x = 1\r\ny = 2\r\n", "x = 1\ny = 2", Ok("x = 1\r\ny = 2"));
    check("a = 1\nb = 2\n", "", Err(BlockError::Empty));
    check("a = 1\nb = 2\n", "  \n ", Err(BlockError::Empty));
    check("a = 1\nb = 2\n", "c = 3", Err(BlockError::Absent));
    check("a = 1\nb = 2\n", " b = 2", Err(BlockError::Absent));
    check("a = 1\na = 1\n", "a = 1", Err(BlockError::Repeated));
    check("aaa", "aa", Err(BlockError::Repeated));
    check("x = 1 \ny = 2\nx = 1 \ny = 2", "x = 1\ny = 2", Err(BlockError::Repeated));
}

#[test]
fn the_first_of_equal_blocks_is_replaced() {
    let check = |text: &str, quoted: &str, expected: Result<&str, BlockError>| {
        let script = solution(text);
        let found = script.find_first_block(quoted);
        let replaced =
            found.and_then(|block| script.replace_block(&block, "new")).map(|new| new.text().to_owned());
        assert_eq!(replaced, expected.map(str::to_owned), "{quoted:?} in {text:?}");
    };
    check("a = 1\nb = 2\na = 1\n", "a = 1", Ok("new\nb = 2\na = 1\n"));
    check("a = 1\na = 1\na = 1\n", "a = 1\n", Ok("new\na = 1\na = 1\n"));
    check("x = 1 \ny = 2\nz\nx = 1 \ny = 2", "x = 1\ny = 2", Ok("new\nz\nx = 1 \ny = 2"));
    check("x = 1 \ny = 2\nz\nx = 1\ty = 2\n", "x = 1\ny = 2", Ok("new\nz\nx = 1\ty = 2\n"));
    check("a = 1\nb = 2\n", "b = 2", Ok("a = 1\nnew\n"));
    // Parts of longer lines come last.
    check("my_fit(x)\nif a:\n    fit(x) # leaks\n", "fit(x)", Ok("my_fit(x)\nif a:\n    new # leaks\n"));
    check("d = f(a)[0]\nd = f(a)\n", "d = f(a)", Ok("d = f(a)[0]\nnew\n"));
    check("d = f(a)[0]\nd = f(a)[1]\n", "d = f(a)", Ok("new[0]\nd = f(a)[1]\n"));
    check("a = 1\n", "c = 3", Err(BlockError::Absent));
    check("a = 1\n", " \n", Err(BlockError::Empty));
    let other = solution("b = 2").find_block("b = 2").unwrap();
    assert_eq!(solution("a = 1").replace_block(&other, "new"), Err(BlockError::Absent));
}

/// Lines as scripts have them: indented, with braces, quotes, unicode and trailing blanks.
fn line() -> impl Strategy<Value = String> {
    "[ \\t]{0,4}[a-zé_{}()'\"$#=.,:\\\\ü漢 0-9]{0,12}[ \\t]{0,2}"
}

proptest! {
    #[test]
    fn replacing_changes_the_block_and_nothing_else(
        before in prop::collection::vec(line(), 0..6),
        block in prop::collection::vec(line(), 1..5),
        after in prop::collection::vec(line(), 0..6),
        replacement in prop::collection::vec(line(), 0..5),
        strip: bool,
    ) {
        let (before, block, after) = (before.join("\n"), block.join("\n"), after.join("\n"));
        let replacement = replacement.join("\n");
        let text = format!("{before}\n{block}\n{after}");
        let quoted: String = if strip {
            block.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
        } else {
            block.clone()
        };
        let script = solution(&text);
        match script.find_block(&quoted) {
            Ok(found) => {
                prop_assert_eq!(text.matches(found.as_str()).count(), 1);
                let (head, tail) = text.split_once(found.as_str()).unwrap();
                let replaced = script.replace_block(&found, &replacement).unwrap();
                prop_assert_eq!(replaced.text(), format!("{head}{replacement}{tail}"));
            }
            Err(BlockError::Empty) => prop_assert!(quoted.trim().is_empty()),
            Err(BlockError::Repeated) => {}
            // The block is there, so it can only be missed if it begins or ends with white space.
            Err(BlockError::Absent) => prop_assert!(strip, "{:?} is in {:?}", quoted, text),
        }
    }
}
