import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createKeelson, createKeelsonOnSqlite, createKeelsonWithEverything, createKeelsonWithRules } from "./keelson.ts";
import { createRaw, createRawHttp } from "./raw.ts";
import { createRawOnSqlite } from "./raw-sqlite.ts";
import type { CreateSubject } from "./task.ts";

const OWN: { readonly [name: string]: CreateSubject } = {
  "raw": createRaw,
  "raw-http": createRawHttp,
  "raw-sqlite": createRawOnSqlite,
  "keelson": createKeelson,
  "keelson-rules": createKeelsonWithRules,
  "keelson-everything": createKeelsonWithEverything,
  "keelson-sqlite": createKeelsonOnSqlite,
};

const peersFolder = join(import.meta.dirname, "peers");
export const PEERS: readonly string[] = ["pi", "ai-sdk", "openai-agents"];

export function arePeersInstalled(): boolean {
  return existsSync(join(peersFolder, "node_modules"));
}

/** The peers are loaded from a project of their own, which need not be installed. */
export async function findSubject(name: string): Promise<CreateSubject> {
  const own = OWN[name];
  if (own !== undefined) return own;
  if (!PEERS.includes(name)) throw new Error(`There is no subject "${name}"; there are ${[...Object.keys(OWN), ...PEERS].join(", ")}.`);
  if (!arePeersInstalled()) throw new Error(`The peers are not installed: run \`npm ci --prefix bench/peers\`.`);
  const { create } = (await import(pathToFileURL(join(peersFolder, `${name}.mjs`)).href)) as { readonly create: CreateSubject };
  return create;
}
