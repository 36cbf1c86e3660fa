import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { EnvironmentError, type CallEffects, type CredentialRef } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryBlobStore } from "../../state/memory/memory-blob-store.ts";
import { createProcessExecutor } from "../execution/process-executor.ts";
import { createPlaceholderSecrets } from "./placeholder-secrets.ts";
import { createValueHider } from "./value-hider.ts";
import { withSecrets } from "./with-secrets.ts";

const VALUE = "hunter2-canary/91b7+x=";
const secrets = { resolve: async (reference: string) => (reference === "x:break" ? "a\r\nx-evil: 1" : VALUE) };
const bare = createProcessExecutor({ cwd: tmpdir() });
const executor = (...injections: CredentialRef["injection"][]) =>
  withSecrets(bare, { secrets, credentials: injections.map((injection) => ({ name: "db", reference: "x:db", injection })) });

describe("a command with secrets", () => {
  it("finds them in its variables and files; files are its user's alone, and gone when it ends [EN-02]", async () => {
    const { stdout } = await executor({ type: "env-var", variable: "DB_PASSWORD" }, { type: "file", path: "db/password" }).execute({
      command:
        'printf %s "$DB_PASSWORD" | wc -c; wc -c < "$KEELSON_CREDENTIALS/db/password"; stat -c %a "$KEELSON_CREDENTIALS/db/password"; echo "$KEELSON_CREDENTIALS"',
    });
    const [inVariable, inFile, mode, folder] = stdout.trim().split(/\s+/);
    expect([inVariable, inFile, mode]).toEqual([`${VALUE.length}`, `${VALUE.length}`, "600"]);
    expect(existsSync(folder ?? "")).toBe(false);
  });

  it("does not give them back, however it writes them, in pieces or whole, nor where output is cut", async () => {
    const told: string[] = [];
    const run = executor({ type: "env-var", variable: "T" });
    const { stdout, stderr } = await run.execute({
      command:
        'echo "a $T b"; printf %s "$T" | base64; echo "$T" | base64; printf %s "$T" | od -An -tx1 | tr -d " \\n"; for i in $(seq 1 ${#T}); do printf %s "$T" | cut -c $i | tr -d "\\n"; done; env >&2',
      onOutput: (_stream, text) => told.push(text),
    });
    for (const output of [stdout, stderr, told.join("")]) {
      expect(output).toContain("[redacted]");
      for (const spelling of [VALUE, Buffer.from(VALUE).toString("base64"), Buffer.from(VALUE).toString("hex")])
        expect(output).not.toContain(spelling);
    }
    // Wherever the cut falls, no part of a value is left at it.
    for (let maxOutputBytes = 20; maxOutputBytes < 60; maxOutputBytes += 3) {
      const cut = await run.execute({ command: 'for i in 1 2 3 4 5 6; do printf %s "$T"; done', maxOutputBytes });
      expect(cut.stdout).not.toMatch(/hunter|canary|91b7/);
    }
  });

  it("does not give them back as a job, as a pipeline, or in the blob of a long output", async () => {
    const run = executor({ type: "env-var", variable: "T" });
    await using blobs = createMemoryBlobStore();
    const job = await run.jobs?.start({ command: 'echo "job $T"; echo "$T" >&2' });
    await run.jobs?.ended(job?.id ?? "");
    expect((await run.jobs?.poll(job?.id ?? ""))?.text).toBe("job [redacted]\n[redacted]\n");
    const stage = { command: "sh", args: ["-c", 'echo "stage $T"; cat'], stderrToStdout: false };
    expect((await run.pipeline?.([stage, stage]))?.stdout).toBe("stage [redacted]\nstage [redacted]\n");
    const command = 'for i in $(seq 1 200); do echo "line $i $T"; done';
    const { stdoutBlob } = await run.execute({ command, maxOutputBytes: 100, blobs });
    if (stdoutBlob === undefined) throw new Error("the whole output was not kept");
    const whole = Buffer.from(await blobs.get(stdoutBlob)).toString();
    expect(whole).toContain("line 117 [redacted]\n");
    expect(whole).not.toContain(VALUE);
  });

  it("is not started when a secret can't be had, and the error holds no value", async () => {
    const failing = withSecrets(bare, {
      secrets: {
        resolve: async () =>
          Promise.reject(new EnvironmentError({ kind: "credential-failed", credential: "x:db", message: "The secret x:db is gone." })),
      },
      credentials: [{ name: "db", reference: "x:db", injection: { type: "env-var", variable: "T" } }],
    });
    const error: unknown = await failing.execute({ command: "echo started" }).catch((thrown: unknown) => thrown);
    expect(EnvironmentError.is(error, "credential-failed") && error.message).toContain('The credential "db" (x:db) was not injected');
  });

  it("cannot have a sidecar, which no executor here provides [EN-03]", () => {
    expect(() => executor({ type: "sidecar" })).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ kind: "provision-failed" }) }),
    );
  });

  it("gets none when it is not one of those they are for", async () => {
    const some = withSecrets(bare, {
      secrets,
      credentials: [{ name: "db", reference: "x:db", injection: { type: "env-var", variable: "T" } }],
      appliesTo: ({ program }) => program === "git",
    });
    expect((await some.execute({ command: 'echo "${T-none}"' })).stdout).toBe("none\n");
  });
});

describe("what hides values in a stream", () => {
  it("tells the same whatever the pieces are, with no value in it, and loses nothing else", () => {
    const word = fc.constantFrom("abab", "ababc", "cab", "abcabc", " ", "x", "ab", "c");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat({ max: 60 }), { maxLength: 6 }), (words, cuts) => {
        const text = words.join("");
        const whole = createValueHider(["abcabc", "cabx", "abab", "ababcx"]);
        const pieces = createValueHider(["abcabc", "cabx", "abab", "ababcx"]);
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const told =
          places
            .slice(1)
            .map((end, index) => pieces.push(text.slice(places[index], end)))
            .join("") + pieces.end();
        expect(told).toBe(whole.push(text) + whole.end());
        expect(told).not.toMatch(/abcabc|cabx|abab/);
        if (!/abcabc|cabx|abab/.test(text)) expect(told).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a placeholder of a secret", () => {
  const placeholders = createPlaceholderSecrets({
    secrets,
    allow: [
      { variable: "GITHUB_TOKEN", reference: "x:github", hosts: ["api.github.com", "*.ghe.example"] },
      { variable: "LOCAL", reference: "x:local", hosts: ["127.0.0.1"] },
      { variable: "BROKEN", reference: "x:break", hosts: ["api.github.com"] },
    ],
  });
  const { GITHUB_TOKEN = "", LOCAL = "", BROKEN = "" } = placeholders.env;
  const sent = (address: string, value: string): Promise<string | undefined> =>
    placeholders
      .swap({ url: new URL(address), headers: { authorization: [value], accept: ["*/*"] } })
      .then((headers) => headers["authorization"]?.[0]);

  it("is swapped for the value in requests to the hosts that it is for, in Basic credentials too", async () => {
    expect(JSON.stringify(placeholders.env)).not.toContain(VALUE);
    expect(await sent("https://api.github.com/user", `Bearer ${GITHUB_TOKEN}`)).toBe(`Bearer ${VALUE}`);
    expect(await sent("https://API.GitHub.com./user", `Bearer ${GITHUB_TOKEN}`)).toBe(`Bearer ${VALUE}`);
    expect(await sent("https://git.ghe.example/", `Basic ${Buffer.from(`x:${GITHUB_TOKEN}`).toString("base64")}`)).toBe(
      `Basic ${Buffer.from(`x:${VALUE}`).toString("base64")}`,
    );
    expect(await sent("http://127.0.0.1:8080/", LOCAL)).toBe(VALUE);
    expect(await sent("https://elsewhere.example/", "Bearer other")).toBe("Bearer other");
  });

  it("stops the request to any other host, and over plain HTTP", async () => {
    for (const address of [
      "https://evil.example/",
      "https://api.github.com.evil.example/",
      "https://notghe.example/",
      "https://ghe.example/",
      "http://api.github.com/",
    ]) {
      for (const value of [`token ${GITHUB_TOKEN}`, `Basic ${Buffer.from(`x:${GITHUB_TOKEN}`).toString("base64")}`]) {
        const error: unknown = await sent(address, value).catch((thrown: unknown) => thrown);
        expect(EnvironmentError.is(error, "isolation-violation") && error.message, address).toContain("The secret x:github was not sent");
        expect(String(error)).not.toContain(VALUE);
      }
    }
    await expect(sent("https://api.github.com/", BROKEN)).rejects.toThrow(/line break/);
  });
});

it("confines what the executor below confines, and says nothing of it where that confines nothing", async () => {
  const refused = ["It starts curl."];
  const confining = { execute: bare.execute, confine: (effects: CallEffects) => ({ ...effects, confined: { refused } }) };
  expect(await withSecrets(confining, { secrets, credentials: [] }).confine?.({})).toEqual({ confined: { refused } });
  expect(executor()).not.toHaveProperty("confine");
});
