import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { ObservableEvent, Vfs } from "@keelson/protocol";
import { createDiskVfs, createMemoryVfs, type DiskVfs } from "keelson/environment";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileTexts, type FileTextsOptions } from "./create-file-texts.ts";
import type { FileTexts } from "./file-texts.ts";
import { createTelemetry } from "./telemetry.ts";

const { signal } = new AbortController();
let root: string;
let disk: DiskVfs;
/** Reads of the disk since the test began. */
let reads: number;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-texts-")));
  disk = createDiskVfs({ root });
  reads = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, content: string | Uint8Array): void => writeFileSync(join(root, path), content);
const counting = (): Vfs => ({
  ...disk,
  read: (...given) => {
    reads++;
    return disk.read(...given);
  },
});
/** By its clock every file is old, so that the times of files can be trusted. */
const store = (options: Partial<FileTextsOptions> = {}): FileTexts =>
  createFileTexts({ files: counting(), now: () => Date.now() + 60_000, ...options });
const linesOf = async (texts: FileTexts, path: string, options = {}): Promise<readonly string[] | undefined> =>
  (await texts.read(path, { signal, ...options }))?.lines;

describe("the store of texts", () => {
  it("reads the disk once, and answers for any later range until the file changes [TC-08] [TC-18] [TC-19]", async () => {
    put("a.txt", "one\ntwo\n");
    const texts = store();
    const first = await texts.read("a.txt", { signal });
    expect(await texts.read("a.txt", { signal })).toBe(first);
    expect(await texts.read("./a.txt", { signal })).toBe(first);
    expect(first?.outline()).toBe(first?.outline());
    expect(reads).toBe(1);
    put("a.txt", "three\n");
    expect(await linesOf(texts, "a.txt")).toEqual(["three"]);
    expect(reads).toBe(2);
  });

  it("never answers with an old text, whatever a program does to the times of the file [TC-08]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("write", "write and set the time back", "replace by a copy with the same time", "read"), {
          minLength: 2,
          maxLength: 12,
        }),
        async (acts) => {
          const texts = createFileTexts({ files: disk });
          let number = 1000;
          put("a.txt", String(number));
          utimesSync(join(root, "a.txt"), 1000, 1000);
          for (const act of [...acts, "read"]) {
            if (act === "read") {
              expect(await linesOf(texts, "a.txt")).toEqual([String(number)]);
              continue;
            }
            // Each content has the same size.
            const path = act.startsWith("replace") ? "copy.txt" : "a.txt";
            put(path, String(++number));
            if (act !== "write") utimesSync(join(root, path), 1000, 1000);
            if (path === "copy.txt") renameSync(join(root, path), join(root, "a.txt"));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it("sees a change that kept size and modification time by the time of change", async () => {
    put("a.txt", "one");
    utimesSync(join(root, "a.txt"), 1000, 1000);
    const texts = store();
    await linesOf(texts, "a.txt");
    const soon = Date.now() + 20;
    while (Date.now() < soon) await new Promise((resolve) => setImmediate(resolve));
    put("a.txt", "two");
    utimesSync(join(root, "a.txt"), 1000, 1000);
    expect(await linesOf(texts, "a.txt")).toEqual(["two"]);
  });

  it("drops a text by any path that it was asked for by [TC-21]", async () => {
    put("a.txt", "one");
    symlinkSync("a.txt", join(root, "link"));
    const texts = store();
    for (const path of ["a.txt", "link", join(root, "a.txt")]) {
      await linesOf(texts, "link");
      reads = 0;
      texts.drop(path);
      await linesOf(texts, "link");
      expect([path, reads]).toEqual([path, 1]);
    }
  });

  it("keeps no more than its bytes, and forgets what was not used for the longest time", async () => {
    for (const name of ["a", "b", "c"]) put(name, "x".repeat(1000));
    const texts = store({ maxBytes: 5000 });
    for (const name of ["a", "b", "a", "c"]) await linesOf(texts, name);
    reads = 0;
    await linesOf(texts, "a");
    await linesOf(texts, "c");
    expect(reads).toBe(0);
    await linesOf(texts, "b");
    expect(reads).toBe(1);
    put("large", "x".repeat(100_000));
    expect(await linesOf(texts, "large")).toHaveLength(1);
    await linesOf(texts, "b");
    expect(reads).toBe(2);
  });

  it("keeps the texts of different files and encodings apart", async () => {
    put("a.txt", Buffer.from([0xcf, 0xf0, 0xe8]));
    const texts = store();
    const memory = createMemoryVfs();
    await memory.write(join(root, "a.txt"), "in memory");
    const opened = await texts.open("a.txt", { signal, encoding: "windows-1251" });
    expect(opened).toMatchObject({ kind: "text", text: { lines: ["При"] } });
    expect(await linesOf(texts, "a.txt")).toEqual(["Ïðè"]);
    expect(await linesOf(texts, join(root, "a.txt"), { files: memory })).toEqual(["in memory"]);
  });

  it("asks a file system again that has no time of change", async () => {
    const memory = createMemoryVfs({ now: () => 5 });
    await memory.write("a.txt", "one");
    const texts = createFileTexts({ files: memory });
    expect(await linesOf(texts, "a.txt")).toEqual(["one"]);
    await memory.write("a.txt", "two");
    expect(await linesOf(texts, "a.txt")).toEqual(["two"]);
    expect(await texts.read("a.txt", { signal })).toBe(await texts.read("a.txt", { signal }));
  });

  it("says that a file changed while it was read, and does not keep it", async () => {
    put("a.txt", "0");
    let version = 0;
    const texts = store({
      files: {
        ...disk,
        async read(...given) {
          const content = await disk.read(...given);
          put("a.txt", "x".repeat(++version + 1));
          return content;
        },
      },
    });
    expect(await texts.open("a.txt", { signal })).toMatchObject({ kind: "text", changedWhileRead: true });
    expect(version).toBe(3);
  });

  it("opens a file of many gibibytes without reading it whole", async () => {
    put("huge.log", "first line\nsecond line\n");
    truncateSync(join(root, "huge.log"), 3 * 1024 ** 3);
    const opened = await store().open("huge.log", { signal, encoding: "utf-8" });
    if (opened.kind !== "large") throw new Error(opened.kind);
    expect(await opened.text.lines({ start: 1, end: 2, maxBytes: 1000 }, signal)).toEqual([
      { text: "first line", omittedBytes: 0 },
      { text: "second line", omittedBytes: 0 },
    ]);
    expect(reads).toBe(0);
  });

  it("does not wait for a pipe or a device", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    await expect(store().open("pipe", { signal })).rejects.toThrow("neither a file nor a folder");
  });

  it("opens folders, images and binary files as such", async () => {
    put("a.png", Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64"));
    put("a.zip", Buffer.from("PK\u0003\u0004rest"));
    const texts = store();
    expect(await texts.open(".", { signal })).toEqual({ kind: "folder" });
    expect(await texts.open("a.png", { signal })).toMatchObject({ kind: "other", document: { kind: "image", mediaType: "image/png" } });
    expect(await texts.open("a.zip", { signal })).toMatchObject({ kind: "other", document: { kind: "binary", command: "unzip -l" } });
    expect(await texts.read("a.zip", { signal })).toBeUndefined();
  });

  it("records each read, and if the store had it", async () => {
    put("a.txt", "one");
    const events: ObservableEvent[] = [];
    const texts = store({
      telemetry: createTelemetry({ listener: (event) => events.push(event), now: () => 7, attributes: { session: "s" } }),
    });
    await linesOf(texts, "a.txt");
    await linesOf(texts, "a.txt");
    expect(events.map(({ name, at, attributes }) => [name, at, attributes["session"], attributes["cached"]])).toEqual([
      ["file-read", 7, "s", false],
      ["file-read", 7, "s", true],
    ]);
  });
});
