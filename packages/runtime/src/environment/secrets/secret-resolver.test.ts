import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { EnvironmentError } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manualClock } from "../../../test/wires/manual-clock.ts";
import { createKeyRing, newKey } from "../crypto/keys.ts";
import { createEnvSecrets } from "./env-secrets.ts";
import { createExecSecrets } from "./exec-secrets.ts";
import { createFileSecrets } from "./file-secrets.ts";
import { createKeyringSecrets } from "./keyring-secrets.ts";
import { createSealedFolder } from "./sealed-folder.ts";
import { createSecretResolver } from "./secret-resolver.ts";
import type { FoundSecret, SecretSource } from "./secret-source.ts";

const VALUE = "hunter2-canary-91b7";
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "keelson-secrets-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const failureOf = async (resolving: Promise<unknown>): Promise<EnvironmentError> => {
  const error: unknown = await resolving.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!EnvironmentError.is(error)) throw new Error("expected an EnvironmentError", { cause: error });
  expect(inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error)).not.toContain(VALUE);
  return error;
};

/** A source whose every reading is answered by hand. */
function sourceByHand(scheme = "hand"): SecretSource & {
  readonly reads: { name: string; signal: AbortSignal; answer(found: FoundSecret | undefined): void; fail(error: unknown): void }[];
} {
  const reads: ReturnType<typeof sourceByHand>["reads"] = [];
  return {
    scheme,
    reads,
    read(name, { signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<FoundSecret | undefined>();
      reads.push({ name, signal, answer: resolve, fail: reject });
      return promise;
    },
  };
}

describe("a resolver of secrets", () => {
  it("asks the sources of a reference's scheme in their order until one has it", async () => {
    const source = (scheme: string, found: string | undefined): SecretSource => ({
      scheme,
      read: async (name) => (found === undefined ? undefined : { value: `${found} ${name}` }),
    });
    const secrets = createSecretResolver({
      sources: [source("a", undefined), source("b", "wrong"), source("a", "right"), source("a", "late")],
    });
    expect(await secrets.resolve("a:x:y")).toBe("right x:y");
  });

  it("fails with the reference's name when no source has it, when it is empty, and when it is too long [EN-05]", async () => {
    const secrets = createSecretResolver({ sources: [createEnvSecrets({ env: { EMPTY: "", LONG: VALUE } })], maxBytes: 10 });
    for (const [reference, problem] of [
      ["env:MISSING", "was not found"],
      ["env:EMPTY", "was not found"],
      ["env:LONG", "longer than 10 bytes"],
      ["env:A B", "names no variable"],
      ["env:__proto__", "was not found"],
    ] as const) {
      const error = await failureOf(secrets.resolve(reference));
      expect(error.failure).toMatchObject({ kind: "credential-failed", credential: reference });
      expect(error.message).toContain(problem);
    }
  });

  it("never repeats what has no known scheme: it may be the secret itself", async () => {
    const secrets = createSecretResolver();
    for (const pasted of [VALUE, `${VALUE}:x`, `x:${VALUE}`, `https://user:${VALUE}@host/`, ""]) {
      const error = await failureOf(secrets.resolve(pasted));
      expect(error.message).toContain("begins with none of env:, file:");
    }
  });

  it("asks once for many who ask at once, and again when the time of a value is over", async () => {
    const clock = manualClock();
    const source = sourceByHand();
    const secrets = createSecretResolver({ sources: [source], clock, cacheMs: 1000 });
    const all = Promise.all([secrets.resolve("hand:x"), secrets.resolve("hand:x"), secrets.resolve("hand:x")]);
    source.reads[0]?.answer({ value: "one" });
    expect(await all).toEqual(["one", "one", "one"]);
    await clock.advance(999);
    expect(await secrets.resolve("hand:x")).toBe("one");
    await clock.advance(1);
    const later = secrets.resolve("hand:x");
    source.reads[1]?.answer({ value: "two", ttlMs: 0 });
    expect(await later).toBe("two");
    const third = secrets.resolve("hand:x");
    source.reads[2]?.answer({ value: "three" });
    expect(await third).toBe("three");
    secrets.forget("hand:x");
    void secrets.resolve("hand:x").catch(() => {});
    expect(source.reads).toHaveLength(4);
  });

  it("keeps no failure: who asks next, asks the source", async () => {
    const source = sourceByHand();
    const secrets = createSecretResolver({ sources: [source] });
    const first = failureOf(secrets.resolve("hand:x"));
    source.reads[0]?.fail(new Error(`the response was ${VALUE}`, { cause: VALUE }));
    expect((await first).message).toContain("its source failed with Error");
    const second = secrets.resolve("hand:x");
    source.reads[1]?.answer({ value: "there" });
    expect(await second).toBe("there");
  });

  it("lets one who asks leave without the others, and cancels the source when nobody waits any more", async () => {
    const source = sourceByHand();
    const secrets = createSecretResolver({ sources: [source] });
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const left = failureOf(secrets.resolve("hand:x", { signal: leaving.signal }));
    const stayed = failureOf(secrets.resolve("hand:x", { signal: staying.signal }));
    leaving.abort();
    expect((await left).failure.kind).toBe("cancelled");
    expect(source.reads[0]?.signal.aborted).toBe(false);
    staying.abort();
    expect((await stayed).failure.kind).toBe("cancelled");
    expect(source.reads[0]?.signal.aborted).toBe(true);
    expect(source.reads).toHaveLength(1);
  });

  it("waits no longer than its time for a source, which may not heed the signal", async () => {
    const clock = manualClock();
    const source = sourceByHand();
    const secrets = createSecretResolver({ sources: [source], clock, timeoutMs: 500 });
    const failed = failureOf(secrets.resolve("hand:x"));
    await clock.advance(500);
    expect((await failed).message).toContain("was not there within 500 ms");
    expect(source.reads[0]?.signal.aborted).toBe(true);
  });

  it("shows no value when it is inspected, serialised or cloned, and tells each value to who wants to know it", async () => {
    const told: string[] = [];
    const secrets = createSecretResolver({
      sources: [{ scheme: "a", read: async () => ({ value: VALUE }) }],
      onResolve: (value, reference) => told.push(`${reference}=${value}`),
    });
    await secrets.resolve("a:x");
    await secrets.resolve("a:x");
    expect(told).toEqual([`a:x=${VALUE}`, `a:x=${VALUE}`]);
    const shown =
      inspect(secrets, { depth: Infinity, showHidden: true, showProxy: true, getters: true }) + JSON.stringify(secrets) + String(secrets);
    expect(shown).not.toContain(VALUE);
    expect(() => structuredClone(secrets)).toThrow();
  });
});

describe("secrets in files", () => {
  const secrets = (options = {}): ReturnType<typeof createSecretResolver> =>
    createSecretResolver({ sources: [createFileSecrets(options)] });

  it("are read without the line break at their end, each time anew", async () => {
    const path = join(home, "token");
    await writeFile(path, `${VALUE}\n`, { mode: 0o600 });
    const resolver = secrets();
    expect(await resolver.resolve(`file:${path}`)).toBe(VALUE);
    await writeFile(path, "two\n\n");
    expect(await resolver.resolve(`file:${path}`)).toBe("two\n");
    expect(await secrets({ folder: home }).resolve("file:token")).toBe("two\n");
  });

  it("are refused when others may read them, except where the system hands them out, and always when others may change them", async () => {
    await mkdir(join(home, "shared"));
    for (const folder of [home, join(home, "shared")]) await writeFile(join(folder, "token"), VALUE);
    const resolver = secrets({ sharedFolders: [join(home, "shared")] });
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      await chmod(join(home, "token"), mode);
      expect((await failureOf(resolver.resolve(`file:${home}/token`))).message).toContain(`chmod 600 ${home}/token`);
      expect((await failureOf(resolver.resolve(`file:${home}/shared/../token`))).message).toContain("chmod 600");
    }
    await chmod(join(home, "shared", "token"), 0o444);
    expect(await resolver.resolve(`file:${home}/shared/token`)).toBe(VALUE);
    await chmod(join(home, "shared", "token"), 0o646);
    expect((await failureOf(resolver.resolve(`file:${home}/shared/token`))).message).toContain("can be changed by others");
  });

  it("are refused when they are no file, no text, too long or named by half a path, and missing where nothing is", async () => {
    const resolver = createSecretResolver({ sources: [createFileSecrets()], maxBytes: 100 });
    await writeFile(join(home, "bytes"), Buffer.of(0xff, 0xfe), { mode: 0o600 });
    await writeFile(join(home, "long"), VALUE.repeat(10), { mode: 0o600 });
    await symlink(join(home, "long"), join(home, "link"));
    for (const [name, problem] of [
      [home, "is no file"],
      [join(home, "bytes"), "is no UTF-8 text"],
      [join(home, "long"), "is longer than 100 bytes"],
      [join(home, "link"), "is longer than 100 bytes"],
      ["token", "is no absolute path"],
      [join(home, "none"), "was not found"],
    ] as const)
      expect((await failureOf(resolver.resolve(`file:${name}`))).message).toContain(problem);
  });
});

describe("secrets from programs", () => {
  const source = createExecSecrets({
    cwd: tmpdir(),
    programs: {
      say: { program: "printf", args: ["%s\n", "value of {}"] },
      env: { program: "sh", args: ["-c", 'echo "$KEELSON_TEST_TOKEN/$KEELSON_TEST_KIND"'] },
      passed: { program: "sh", args: ["-c", 'echo "$KEELSON_TEST_TOKEN"'], passSecrets: ["KEELSON_TEST_TOKEN"] },
      fail: { program: "sh", args: ["-c", `echo ${VALUE}; echo ${VALUE} >&2; exit 3`] },
      nothing: { program: "true", args: [] },
      missing: { program: "keelson-no-such-program", args: [] },
      long: { program: "sh", args: ["-c", `for i in 1 2 3 4 5 6 7 8 9; do echo ${VALUE}; done`] },
      slow: { program: "sleep", args: ["600"] },
    },
  });
  const secrets = createSecretResolver({ sources: [source], maxBytes: 60 });

  it("are what a given program writes for a name", async () => {
    expect(await secrets.resolve("exec:say/prod/db.password")).toBe("value of prod/db.password");
  });

  it("come from the programs that were given alone, with a name that is neither an option nor a command", async () => {
    for (const [reference, problem] of [
      ["exec:rm/x", "asks for a program that was not given"],
      ["exec:constructor/x", "asks for a program that was not given"],
      ["exec:say/--help", "has a name that no program is given"],
      ["exec:say/$(id)", "has a name that no program is given"],
      ["exec:say/a;b", "has a name that no program is given"],
      ["exec:say/a\nb", "has a name that no program is given"],
      ["exec:say", "names no secret"],
      ["exec:nothing/x", "takes none"],
    ] as const)
      expect((await failureOf(secrets.resolve(reference))).message).toContain(problem);
  });

  it("fail without a word of what the program wrote", async () => {
    expect((await failureOf(secrets.resolve("exec:fail"))).message).toContain("sh ended with 3. Run it by hand");
    expect((await failureOf(secrets.resolve("exec:nothing"))).message).toContain("was not found");
    expect((await failureOf(secrets.resolve("exec:missing"))).failure.kind).toBe("credential-failed");
    expect((await failureOf(secrets.resolve("exec:long"))).message).toContain("longer than 60 bytes");
  });

  it("come from programs that inherit no secret but those they are passed", async () => {
    process.env["KEELSON_TEST_TOKEN"] = "t0ken";
    process.env["KEELSON_TEST_KIND"] = "plain";
    try {
      expect(await secrets.resolve("exec:env")).toBe("/plain");
      expect(await secrets.resolve("exec:passed")).toBe("t0ken");
    } finally {
      delete process.env["KEELSON_TEST_TOKEN"];
      delete process.env["KEELSON_TEST_KIND"];
    }
  });

  it("are given up when nobody waits, and the program is ended", async () => {
    const controller = new AbortController();
    const failed = failureOf(secrets.resolve("exec:slow", { signal: controller.signal }));
    controller.abort();
    expect((await failed).failure.kind).toBe("cancelled");
  });
});

describe("secrets in the keyring of the system", () => {
  const keyring = (state: { locked: boolean; readonly entries: Map<string, string> }) => async (): Promise<unknown> => ({
    AsyncEntry: class {
      readonly key: string;
      constructor(service: string, account: string) {
        this.key = `${service}|${account}`;
      }
      async getPassword(): Promise<string | null> {
        if (state.locked) throw new Error(`locked: ${VALUE}`);
        return state.entries.get(this.key) ?? null;
      }
      async setPassword(value: string): Promise<void> {
        if (state.locked) throw new Error(`Couldn't access platform storage: ${value}`);
        state.entries.set(this.key, value);
      }
      async deleteCredential(): Promise<boolean> {
        return state.entries.delete(this.key);
      }
    },
  });

  it("are written, read and removed by service and account", async () => {
    const state = { locked: false, entries: new Map<string, string>() };
    const source = createKeyringSecrets({ importModule: keyring(state) });
    expect(await source.write("github/alice/work", VALUE)).toBe("keyring");
    expect([...state.entries]).toEqual([["github|alice/work", VALUE]]);
    const secrets = createSecretResolver({ sources: [source], cacheMs: 0 });
    expect(await secrets.resolve("keyring:github/alice/work")).toBe(VALUE);
    await source.remove("github/alice/work");
    expect((await failureOf(secrets.resolve("keyring:github/alice/work"))).message).toContain("was not found");
    expect((await failureOf(secrets.resolve("keyring:github"))).message).toContain("write keyring:service/account");
  });

  it("are kept sealed in a folder while it is locked, which is read first until the keyring takes the value", async () => {
    const state = { locked: false, entries: new Map<string, string>([["db|app", "old"]]) };
    const folder = join(home, "sealed");
    const fallback = createSealedFolder({ folder, keys: createKeyRing({ current: newKey() }) });
    const source = createKeyringSecrets({ importModule: keyring(state), fallback });
    const secrets = createSecretResolver({ sources: [source], cacheMs: 0 });
    state.locked = true;
    expect(await source.write("db/app", VALUE)).toBe("fallback");
    expect(await secrets.resolve("keyring:db/app")).toBe(VALUE);
    state.locked = false;
    expect(await secrets.resolve("keyring:db/app")).toBe(VALUE);
    expect(await source.write("db/app", "new")).toBe("keyring");
    expect(await fallback.names()).toEqual([]);
    expect(await secrets.resolve("keyring:db/app")).toBe("new");
  });

  it("fail without the words of the keyring where there is no fallback, and say what to install where the package is missing", async () => {
    const locked = createKeyringSecrets({ importModule: keyring({ locked: true, entries: new Map() }) });
    expect((await failureOf(createSecretResolver({ sources: [locked] }).resolve("keyring:a/b"))).message).toContain(
      "Unlock it, or give the source a fallback",
    );
    expect((await failureOf(locked.write("a/b", VALUE))).message).toContain("could not be written");
    const missing = createKeyringSecrets({ importModule: async () => Promise.reject(new Error("Cannot find package")) });
    expect((await failureOf(createSecretResolver({ sources: [missing] }).resolve("keyring:a/b"))).message).toContain(
      "npm install @napi-rs/keyring",
    );
  });
});

describe("a sealed folder", () => {
  it("holds nothing readable, takes any name, and can be sealed under another key", async () => {
    const [first, second] = [newKey(), newKey()];
    const folder = join(home, "sealed");
    const before = createSealedFolder({ folder, keys: createKeyRing({ current: first }) });
    const names = ["a/b", "../../etc/passwd", "ü\n\0", "%2F"];
    for (const name of names) await before.write(name, `${VALUE} ${name}`);
    expect(await before.names()).toEqual([...names].sort());
    const both = createSealedFolder({ folder, keys: createKeyRing({ current: second, previous: [first] }) });
    await both.reseal();
    const after = createSealedFolder({ folder, keys: createKeyRing({ current: second }) });
    for (const name of names) expect(await after.read(name)).toBe(`${VALUE} ${name}`);
    await after.remove("a/b");
    expect(await after.read("a/b")).toBeUndefined();
    expect((await failureOf(before.read("%2F"))).message).toContain("not known here");
  });
});
