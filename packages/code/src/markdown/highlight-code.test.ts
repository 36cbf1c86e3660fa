import { beforeAll, describe, expect, it } from "vitest";
import { CODE_LANGUAGES, languageOfFile } from "./code-languages.ts";
import { createCodeHighlight } from "./highlight-code.ts";
import { PLAIN, textOf } from "./span.ts";

const SAMPLES: { readonly [language: string]: string } = {
  typescript:
    "/* two\nlines */\nexport class A<T> {\n  b = `x ${c(\n    1)} y`; // end\n  get(): number | undefined { return /re/.exec('a')?.index; }\n}",
  python: 'def f(a: int) -> str:\n    """doc\n    string"""\n    return f"{a} x"  # c\n\n@dec\nclass B(A): pass',
  json: '{\n  "a": [1, true, null],\n  "b": "x"\n}',
  bash: 'if [ -f x ]; then\n  echo "a $B" # c\nfi\ncat <<EOF\ntext\nEOF',
  css: "a:hover { color: #fff; }\n/* c\nc */\n.b > c { margin: 1px }",
  yaml: "a:\n  - b: 1 # c\n  - 'x'\ntext: |\n  more\nd: true",
  rust: '/// doc\nfn main() -> Result<(), E> {\n    let x: u32 = 1;\n    println!("{}", x);\n}',
  sql: "select a, 'x' from b -- c\nwhere d = 1;",
  diff: "@@ -1 +1 @@\n-a\n+b\n c",
};

const highlight = createCodeHighlight();
beforeAll(() => Promise.all(CODE_LANGUAGES.map(({ name }) => highlight.load(name))).then(() => {}));

describe("createCodeHighlight", () => {
  it.each(Object.keys(SAMPLES))("keeps the text of %s and colours it", (language) => {
    const painter = highlight.painter(language);
    const rows = (SAMPLES[language] ?? "").split("\n").map((line) => painter.paint(line));
    expect(rows.map(textOf).join("\n")).toBe(SAMPLES[language]);
    expect(rows.flat().some(({ look }) => look.role !== undefined)).toBe(true);
  });

  it("carries a comment and a template over its lines, and ends them", () => {
    const painter = highlight.painter("ts");
    const roles = ["/* a", "b */ let c = `d", "e` // f"].map((line) => painter.paint(line).map(({ text, look }) => [text, look.role]));
    expect(roles).toEqual([
      [["/* a", "comment"]],
      [
        ["b */", "comment"],
        [" ", undefined],
        ["let", "keyword"],
        [" c = ", undefined],
        ["`d", "string"],
      ],
      [
        ["e`", "string"],
        [" ", undefined],
        ["// f", "comment"],
      ],
    ]);
  });

  it("colours the languages within HTML", () => {
    const painter = highlight.painter("html");
    const [, line = []] = ["<script>", "const a = 1;"].map((text) => painter.paint(text));
    expect(line[0]).toEqual({ text: "const", look: { role: "keyword" } });
  });

  it("shows a line that is not complete without remembering it", () => {
    const painter = highlight.painter("ts");
    painter.peek("/* open");
    expect(painter.paint("let")[0]?.look.role).toBe("keyword");
  });

  it("shows code plain until its language is loaded, and waits for nothing", async () => {
    const late = createCodeHighlight();
    const painter = late.painter("ts");
    expect(painter.paint("let a")).toEqual([{ text: "let a", look: PLAIN }]);
    expect(late.isLoaded("ts")).toBe(false);
    await late.load("ts");
    expect(late.isLoaded("ts")).toBe(true);
    expect(painter.paint("let a")[0]?.look.role).toBe("keyword");
  });

  it("shows code of unknown languages plain", async () => {
    await highlight.load("klingon");
    expect(highlight.painter("klingon").paint("let a")).toEqual([{ text: "let a", look: PLAIN }]);
    expect(highlight.painter("").paint("let a")).toEqual([{ text: "let a", look: PLAIN }]);
  });

  it("reports a language that cannot be loaded once, and shows its code plain", async () => {
    const problems: string[] = [];
    const broken = { name: "broken", aliases: [], load: () => Promise.reject(new Error("no such file")) };
    const failing = createCodeHighlight({ languages: [broken], onProblem: (message) => void problems.push(message) });
    await failing.load("broken");
    await failing.load("broken");
    expect(failing.painter("broken").paint("x")).toEqual([{ text: "x", look: PLAIN }]);
    expect(problems).toEqual(["Code in broken is shown without colours, because its grammar could not be loaded: Error: no such file"]);
  });

  it("shows the rest of a long text plain", () => {
    const painter = highlight.painter("ts");
    for (let line = 0; line < 2_000; line += 1) expect(painter.paint("let a")[0]?.look.role).toBe("keyword");
    expect(painter.paint("let a")).toEqual([{ text: "let a", look: PLAIN }]);
    const open = highlight.painter("ts");
    open.paint("/*");
    for (let line = 0; line < 20; line += 1) open.paint("x".repeat(1_000));
    expect(open.paint("y")).toEqual([{ text: "y", look: PLAIN }]);
  });
});

describe("languageOfFile", () => {
  it.each([
    ["src/a.test.ts", "typescript"],
    ["C:\\x\\B.PY", "python"],
    ["Dockerfile", "dockerfile"],
    ["Makefile", "makefile"],
    ["a.unknown", undefined],
    ["LICENSE", undefined],
  ])("reads %s as %s", (path, name) => {
    expect(languageOfFile(path)?.name).toBe(name);
  });
});
