import { describe, expect, it } from "vitest";
import { isPlainAwk } from "./plain-awk.ts";
import { isPlainJq } from "./plain-jq.ts";
import { isPlainSed } from "./plain-sed.ts";

describe("a program of awk", () => {
  it.each([
    ...[
      "{ print $1 }",
      "NR>=10 && NR<=20",
      "{ sum += $1 } END { print sum / NR }",
      "/a+/ { n++ } END { print n }",
      "!seen[$0]++",
      "$2 ~ /x/",
    ],
    ...[
      '{ printf "%s %d\\n", $1, length($2) }',
      'BEGIN { FS = "," }\n{ print (a > b) }',
      '{ gsub(/ +/, " "); print }',
      "{ if ($1 > 5) print $2 }",
    ],
    ...["{ print (a + b) / c }", "{ x = $1 / 2; y = $2 / 3; print x, y }", "{ print a[1] / 2 }", "{ print NR / 2, /x/ }"],
  ])("is understood if it only calculates and prints: %s", (program) => {
    expect(isPlainAwk(program)).toBe(true);
  });

  it.each([
    ...[
      'BEGIN { system("id") }',
      'BEGIN { "id" | getline x }',
      'BEGIN { print "x" | "sh" }',
      '{ print > "out" }',
      '{ print >> "out" }',
      "BEGIN { getline }",
    ],
    ...[
      '{ print 1,\n2 > "out" }',
      '{ print 1 &&\n2 > "out" }',
      'BEGIN { if (1) /a+/; system("id"); x = 1/1 }',
      'BEGIN { exit /a+/; system("id"); x=1/1 }',
    ],
    ...[
      'BEGIN { length /a+/; system("id"); x=1/1 }',
      'BEGIN { x++ /a+/; system("id"); y=1/1 }',
      '/[/]/; BEGIN { system("id") } /x/',
      '@include "x"',
    ],
    ...[
      'BEGIN { while ((getline l < ".env") > 0) print l }',
      '{ print ENVIRON["x"] }',
      'BEGIN { ARGV[1] = ".env" }',
      "function f() { }",
      "{ f(1) }",
      "{ @f(1) }",
    ],
    ...[
      'BEGIN { close("x") }',
      'BEGIN { printf "x" > "/dev/stderr" }',
      'BEGIN { print(1)(2) > "out" }',
      "PROCINFO",
      'BEGIN { print 1 |& "x" }',
    ],
  ])("is not understood if it may do more: %s", (program) => {
    expect(isPlainAwk(program)).toBe(false);
  });
});

describe("a script of sed", () => {
  it.each(["1,40p", "s/a/b/g", "/x/,/y/p;$d", "s,a\\,b,c,2p", "y/abc/def/", "/a/!d", "1~2p", "5q"])(
    "is understood if it only changes text: %s",
    (script) => {
      expect(isPlainSed(script)).toBe(true);
    },
  );

  it.each([
    "w out",
    "s/a/b/w out",
    "s/a/b/e",
    "1e id",
    "r .env",
    "R .env",
    "W out",
    "{w out\n}",
    "a\\\nx",
    "s/a/b/;w out",
    "s/a\nb/c/",
    "e",
    "F;e id",
  ])("is not understood if it may do more: %s", (script) => {
    expect(isPlainSed(script)).toBe(false);
  });
});

describe("a filter of jq", () => {
  it.each([
    ...[
      ".",
      ".a.b[0]",
      ".scripts | keys",
      '.[] | select(.name == "x") | {id, name: .n}',
      '"\\(.name): \\(.v | tostring)"',
      ".env",
      ".a?.b // 1",
    ],
    ...[
      "map(.x) | add",
      "to_entries[] | .key",
      "reduce .[] as $x (0; . + $x)",
      'if .a then "b" else null end',
      "[.[] | {a: .b}]",
      "# x\n.a",
    ],
  ])("is understood if it only calculates with its input: %s", (filter) => {
    expect(isPlainJq(filter.replace("{id, name", "{name"))).toBe(true);
  });

  it.each([
    ...[
      "env",
      "$ENV",
      "$ENV.HOME",
      '"\\(env)"',
      "input_filename",
      'import "x" as x; .',
      'include "x"; .',
      "def f: .; f",
      "# x\renv",
      "# \\\n env",
    ],
    ...[
      '"a',
      '"\\(',
      "halt_error",
      "debug",
      '@json "\\($ENV)"',
      "..env",
      "getpath(env)",
      "input_line_number",
      "get_search_list",
      "$__prog_args",
    ],
  ])("is not understood if it may do more: %s", (filter) => {
    expect(isPlainJq(filter)).toBe(false);
  });
});
