//! Sources that cannot be checked, and unusual ones that can.

use mle_star_leakage::{Facts, Unreadable, check};

fn of(source: &str) -> Result<usize, Unreadable> {
    check(source, &Facts::default()).map(|findings| findings.len())
}

#[test]
fn syntax_errors_have_a_place() {
    let error = of("x = 1\ny = (2,\nz = = 3\n").unwrap_err();
    assert!(matches!(error, Unreadable::Syntax { line: 3, .. }), "{error}");
    assert!(error.to_string().starts_with("syntax error in line 3, column"), "{error}");
    // The parser panics on this one as a text of IPython.
    let error = of("a = [1,:\n)2\n,\n").unwrap_err();
    assert!(matches!(error, Unreadable::Syntax { .. }), "{error}");
}

#[test]
fn python_2_is_named() {
    for source in [
        "import sys\nprint \"Final\", score\n",
        "print 'a'\n",
        "try:\n    pass\nexcept (A, B), error:\n    print 'x'\n",
        "if a <> b:\n    pass\n",
        "exec \"x = 1\"\n",
        "raise ValueError, \"text\"\n",
        "print >>sys.stderr, 'x'\n",
    ] {
        let result = of(source);
        let python_2 = matches!(result, Err(Unreadable::Python2 { .. }));
        // `print >>sys.stderr, 'x'` parses as Python 3 and fails when it runs.
        assert!(python_2 || source.starts_with("print >>"), "{source:?}: {result:?}");
    }
}

#[test]
fn nesting_is_limited() {
    let cases = [
        "(".repeat(100_000) + &")".repeat(100_000),
        "[".repeat(100_000) + &"]".repeat(100_000),
        format!("x = {}1", "-".repeat(100_000)),
        format!("x = {}1", "not ".repeat(50_000)),
        format!("x = 1{}", " + 1".repeat(50_000)),
        format!("x = a{}", ".b".repeat(50_000)),
        format!("x = a{}", "()".repeat(50_000)),
        format!("x = a{}", "[0]".repeat(50_000)),
        format!("x = 1{}", " if a else 1".repeat(50_000)),
        format!("x = {}1", "lambda: ".repeat(50_000)),
        format!("x = 2{}", "**2".repeat(50_000)),
        format!("x = f\"{{{}1{}}}\"", "(".repeat(50_000), ")".repeat(50_000)),
        (0..10_000).map(|depth| format!("{}if a:\n", " ".repeat(depth))).collect::<String>(),
    ];
    for source in cases {
        let result = of(&source);
        let deep = matches!(result, Err(Unreadable::TooDeep | Unreadable::TooLarge { .. }));
        assert!(deep, "{:.60}: {result:?}", source);
    }
}

#[test]
fn large_sources_are_refused() {
    assert_eq!(of(&"#".repeat(5 << 20)), Err(Unreadable::TooLarge { bytes: 5 << 20, limit: 4 << 20 }));
    assert_eq!(of(&format!("x = \"{}\"\n", "a".repeat(1 << 20))), Ok(0));
    assert_eq!(of(&format!("x = [{}]\n", "1, ".repeat(100_000))), Ok(0));
    let clauses: String = (0..10_000).map(|at| format!("elif a == {at}:\n    b = {at}\n")).collect();
    assert_eq!(of(&format!("if a:\n    b = 0\n{clauses}")), Ok(0));
}

#[test]
fn unusual_sources_are_read() {
    for source in [
        "",
        "\n\n",
        "\u{feff}x = 1\n",
        "x = 1\r\ny = 2\r\n",
        "\x0cx = 1\n\x0c\ndef f():\n    pass\n",
        "# -*- coding: latin-1 -*-\nx = 'é'\n",
        "async def f():\n    await g()\n    async for x in y:\n        pass\n",
        "match a:\n    case [x, *rest] if x > 1:\n        pass\n    case _:\n        pass\n",
        "def f(a, /, b, *c, d=1, **e):\n    return f(b, *c, **e)\nf(1, 2)\n",
        "class A(A):\n    def f(self):\n        return self.f()\nA().f()\n",
        "f = lambda g: g(g)\nf(f)\n",
        "a, *b = c, d = [1, 2]\nx[a:b, ::2] += 1\ndel x[0]\n",
        "print(\"Final Validation Performance: \" % ())\n",
    ] {
        assert_eq!(of(source), Ok(0), "{source:?}");
    }
}

#[test]
fn columns_count_characters() {
    let source = "é = 1; print(\"Final Validation Performance: 0.5\")\n";
    let findings = check(source, &Facts::default()).unwrap();
    assert_eq!((findings[0].line, findings[0].column, findings[0].end_column), (1, 8, 50));
    assert_eq!(&source[findings[0].block.clone()], "print(\"Final Validation Performance: 0.5\")");
}
