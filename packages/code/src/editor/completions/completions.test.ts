import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSlashCommandTable } from "../../slash-commands/slash-command-table.ts";
import type { SlashCommand } from "../../slash-commands/slash-command.ts";
import { createStyle } from "../../text/style.ts";
import { createPromptEditor, type PromptEditor } from "../prompt-editor.ts";
import type { CompletionSource } from "./completion-source.ts";
import { createProjectFiles, nearestPaths } from "./project-files.ts";
import { createPromptCompletions } from "./prompt-completions.ts";

const command = (name: string, more: Partial<SlashCommand> = {}): SlashCommand => ({
  name,
  description: `about ${name}`,
  execute: () => {},
  ...more,
});
const TABLE = createSlashCommandTable([
  command("help", { description: "what can be typed" }),
  command("model", {
    argumentHint: "[provider/id]",
    complete: async (argument) =>
      ["anthropic/claude", "openai/gpt"].filter((value) => value.startsWith(argument)).map((value) => ({ value, description: "a model" })),
  }),
  command("compact"),
  command("quit", { aliases: ["exit", "q"], description: "leave" }),
]);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-completions-"));
  await mkdir(join(folder, "project/src/editor"), { recursive: true });
  await mkdir(join(folder, "project/node_modules/left-pad"), { recursive: true });
  await mkdir(join(folder, "home/notes"), { recursive: true });
  await mkdir(join(folder, "added"), { recursive: true });
  for (const file of [
    "project/.gitignore",
    "project/README.md",
    "project/my file.txt",
    "project/ignored.log",
    "project/src/main.ts",
    "project/src/editor/keys.ts",
    "project/node_modules/left-pad/index.js",
    "home/notes/todo.md",
    "home/.secret",
    "added/lib.ts",
  ])
    await writeFile(join(folder, file), file.endsWith(".gitignore") ? "*.log\n" : "");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function sources(cwd = () => join(folder, "project")): CompletionSource {
  return createPromptCompletions({
    commands: TABLE,
    cwd,
    folders: () => [join(folder, "added")],
    home: join(folder, "home"),
    now: () => 0,
  });
}

async function suggest(
  before: string,
  { above = [], isAsked = false }: { readonly above?: readonly string[]; readonly isAsked?: boolean } = {},
): Promise<readonly string[]> {
  const found = await sources().complete({ above, before }, { signal: new AbortController().signal, isAsked });
  return (found?.suggestions ?? []).map(({ value }) => value);
}

/** An editor whose menu has arrived, since it changes by itself then. */
function setUp(completions: CompletionSource = sources()): {
  readonly editor: PromptEditor;
  readonly sent: string[];
  type(key: string): void;
  menu(): Promise<readonly string[]>;
} {
  const sent: string[] = [];
  let changed = Promise.withResolvers<void>();
  const editor = createPromptEditor({
    style: createStyle(false),
    completions,
    onChange: () => changed.resolve(),
    onSend: (text) => sent.push(text),
  });
  return {
    editor,
    sent,
    type(key) {
      changed = Promise.withResolvers();
      editor.handle(key);
    },
    async menu() {
      await changed.promise;
      return editor.part.rows({ columns: 60, rows: 20 }).lines.slice(1);
    },
  };
}

describe("the completion of commands", () => {
  it("finds commands by the start of their names, then by their letters, aliases and descriptions", async () => {
    expect(await suggest("/")).toEqual(["/help ", "/model ", "/compact ", "/quit "]);
    expect(await suggest("/mo")).toEqual(["/model "]);
    expect(await suggest("/cmp")).toEqual(["/compact "]);
    expect(await suggest("/exit")).toEqual(["/exit "]);
    expect(await suggest("/exi")).toEqual(["/quit "]);
    expect(await suggest("/typed")).toEqual(["/help "]);
  });

  it("finds none for a path, within a message, or in a later line", async () => {
    expect(await suggest("/etc/hosts is wrong")).toEqual([]);
    expect(await suggest("see /mo")).toEqual([]);
    expect(await suggest("/mo", { above: ["first"] })).toEqual([]);
  });

  it("asks a command for suggestions of its argument", async () => {
    expect(await suggest("/model ")).toEqual(["anthropic/claude", "openai/gpt"]);
    expect(await suggest("/model op")).toEqual(["openai/gpt"]);
    expect(await suggest("/compact x")).toEqual([]);
  });
});

describe("the completion of files", () => {
  it("lists the project without what git ignores and without dependencies, the nearest first", async () => {
    expect(await suggest("see @")).toEqual([
      "@.gitignore ",
      "@README.md ",
      '@"my file.txt" ',
      "@src/",
      "@src/editor/",
      "@src/main.ts ",
      "@src/editor/keys.ts ",
    ]);
  });

  it("finds files by letters of their paths, first by their names", async () => {
    expect((await suggest("@keys"))[0]).toBe("@src/editor/keys.ts ");
    expect((await suggest("(@sekt"))[0]).toBe("@src/editor/keys.ts ");
    expect(await suggest('@"my fi')).toEqual(['@"my file.txt" ']);
  });

  it("completes folders step by step", async () => {
    expect(await suggest("@src/")).toEqual(["@src/editor/", "@src/main.ts "]);
    expect(await suggest("@src/editor/")).toEqual(["@src/editor/keys.ts "]);
  });

  it("completes paths from the home folder, absolute ones and those of added folders", async () => {
    expect(await suggest("@~")).toEqual(["@~/notes/"]);
    expect(await suggest("@~/notes/to")).toEqual(["@~/notes/todo.md "]);
    expect(await suggest("@~/.s")).toEqual(["@~/.secret "]);
    expect(await suggest(`@${folder}/added/`)).toEqual([`@${folder}/added/lib.ts `]);
    expect(await suggest("@added")).toContain(`@${folder}/added/`);
    expect(await suggest("@../home/")).toEqual(["@../home/notes/"]);
  });

  it("completes a word without a mark only if the person asks", async () => {
    expect(await suggest("!cat src/ma")).toEqual([]);
    expect(await suggest("!cat src/ma", { isAsked: true })).toEqual(["src/main.ts "]);
    expect(await suggest("me@host", { isAsked: false })).toEqual([]);
  });
});

describe("the completions of a conversation", () => {
  it("follow its session to another folder", async () => {
    let cwd = join(folder, "project");
    const source = sources(() => cwd);
    const options = { signal: new AbortController().signal, isAsked: false };
    const find = async (): Promise<readonly string[]> => {
      const found = await source.complete({ above: [], before: "@t" }, options);
      return (found?.suggestions ?? []).map(({ value }) => value);
    };
    expect(await find()).toContain("@src/main.ts ");
    cwd = join(folder, "home");
    expect((await find()).slice(0, 3)).toEqual(["@notes/todo.md ", "@notes/", "@.secret "]);
  });
});

describe("the menu of the editor", () => {
  it("opens with a slash, narrows with each key, and sends the chosen command with Enter", async () => {
    const { editor, sent, type, menu } = setUp();
    type("/");
    expect(await menu()).toEqual([
      "  → /help                 what can be typed",
      "    /model [provider/id]  about model",
      "    /compact              about compact",
      "    /quit                 leave",
    ]);
    type("\u001b[B");
    type("c");
    expect(await menu()).toEqual(["  → /compact    about compact", "    /help       what can be typed"]);
    type("\r");
    expect([sent, editor.text()]).toEqual([["/compact"], ""]);
  });

  it("closes when the text that it was made for is deleted, and has no effect on Enter and Tab then", async () => {
    const { editor, sent, type, menu } = setUp();
    type("/mo");
    await menu();
    type("\u0015");
    expect(editor.part.rows({ columns: 40, rows: 9 }).lines).toEqual(["› "]);
    type("/mo");
    await menu();
    type("x");
    type("\r");
    expect(sent).toEqual(["/mox"]);
    type("/mo");
    await menu();
    type("\u0015");
    type("a ");
    type("\t");
    expect(editor.text()).toBe("a ");
  });

  it("cuts a description that does not fit with a sign, and shows none in a narrow terminal", async () => {
    const { editor, type, menu } = setUp();
    editor.part.rows({ columns: 44, rows: 20 });
    type("/");
    await menu();
    const rows = (columns: number): readonly string[] => editor.part.rows({ columns, rows: 20 }).lines.slice(1, 2);
    expect(rows(44)).toEqual(["  → /help                 what can be typ…"]);
    expect(rows(40)).toEqual(["  → /help"]);
  });

  it("lists every command, and goes round from the first to the last", async () => {
    const suggestions = Array.from({ length: 40 }, (_, index) => ({ value: `/command-${index} ` }));
    const { editor, type, menu } = setUp({ complete: async ({ before }) => ({ prefix: before, suggestions }) });
    type("/");
    await menu();
    type("\u001b[A");
    expect(editor.part.rows({ columns: 60, rows: 20 }).lines.join("\n")).toContain("→ /command-39");
  });

  it("closes with Esc, and leaves Enter to the message then", async () => {
    const { editor, sent, type, menu } = setUp();
    type("/");
    await menu();
    type("he");
    await menu();
    expect([editor.close(), editor.close()]).toEqual([true, false]);
    type("\r");
    expect(sent).toEqual(["/he"]);
  });

  it("shows what a folder holds if it is typed out before the menu of an earlier key has arrived", async () => {
    const asked = Promise.withResolvers<void>();
    const listed = Promise.withResolvers<void>();
    const project = sources();
    const { type, menu } = setUp({
      async complete(place, options) {
        asked.resolve();
        await listed.promise;
        return project.complete(place, options);
      },
    });
    for (const key of "@src") type(key);
    await asked.promise;
    type("/");
    listed.resolve();
    expect(await menu()).toEqual(["  → src/editor/", "    src/main.ts"]);
  });

  it("completes a file with Tab, shows what a folder holds, and does not send before the menu is closed", async () => {
    const { editor, sent, type, menu } = setUp();
    type("see @sr");
    expect((await menu())[0]).toContain("src/");
    type("\t");
    expect(editor.text()).toBe("see @src/");
    expect(await menu()).toEqual(["  → src/editor/", "    src/main.ts"]);
    type("\u001b[B");
    type("\r");
    expect([editor.text(), sent]).toEqual(["see @src/main.ts ", []]);
    type("\r");
    expect(sent).toEqual(["see @src/main.ts "]);
  });
});

describe("a source of completions that fails", () => {
  it("opens no menu, and is reported", async () => {
    const problem = Promise.withResolvers<unknown>();
    const editor = createPromptEditor({
      style: createStyle(false),
      completions: {
        complete: async () => {
          throw new Error("the disk is gone");
        },
      },
      onChange() {},
      onSend() {},
      onProblem: problem.resolve,
    });
    editor.handle("/");
    expect(await problem.promise).toEqual(new Error("the disk is gone"));
    expect(editor.part.rows({ columns: 40, rows: 5 }).lines).toEqual(["› /"]);
  });
});

describe("nearestPaths", () => {
  it("returns the paths in the fewest folders first", () => {
    expect(nearestPaths(["a/", "a/b/", "a/b/c.ts", "a/d.ts", "e.ts"], 4)).toEqual(["a/", "e.ts", "a/b/", "a/d.ts"]);
  });
});

describe("createProjectFiles", () => {
  it("lists once for all keys within some seconds, and again after a failure", async () => {
    let count = 0;
    let now = 0;
    const files = createProjectFiles({
      now: () => now,
      cwd: "/project",
      files: {
        glob: async () => {
          count += 1;
          if (count === 1) throw new Error("the disk is gone");
          return [{ path: "/project/a.ts", isDir: false }];
        },
      },
    });
    await expect(files.list()).rejects.toThrow("the disk is gone");
    expect(await Promise.all([files.list(), files.list()])).toEqual([["a.ts"], ["a.ts"]]);
    now = 4_999;
    await files.list();
    expect(count).toBe(2);
    now = 5_000;
    await files.list();
    expect(count).toBe(3);
  });
});
