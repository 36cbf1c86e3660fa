import type { CallEffects } from "@keelson/protocol";
import type { Redactor } from "../redaction/redactor.ts";
import { dataInAddresses, dataInName } from "./data-in-address.ts";
import { decodedTexts } from "./decoded-texts.ts";

/** What a text would carry away. `reason` is for people and models, and holds nothing of it. */
export interface Exfiltration {
  readonly type: "secret" | "encoded-secret" | "secret-variable" | "data-in-address" | "data-in-name" | "too-much";
  readonly reason: string;
}

const SENDS =
  /(?:^|[\s;&|(`"'/])(?:curl|wget|http|https|xh|httpie|nc|ncat|netcat|socat|telnet|ssh|scp|sftp|rsync|ftp|tftp|dig|host|nslookup|ping|drill|mail|sendmail|mutt|openssl\s+s_client|git\s+(?:push|remote)|npm\s+publish|gh|aws|gcloud|az|docker\s+push|twine)(?=$|[\s;&|)`"'])/;
const ADDRESS = /\b(?:https?|wss?|ftp):\/\//i;
const VARIABLE =
  /\$\{?(?:[A-Z0-9_]*_)?(?:API_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PRIVATE_KEY|CREDENTIALS?)(?:_[A-Z0-9_]*)?\b|\$\{?AWS_[A-Z_]+|process\.env\b|os\.environ\b/;
const ENVIRONMENT = /(?:^|[\s;&|(`])(?:env|printenv|export\s+-p|declare\s+-x|set)\s*(?:\||>)|\/proc\/(?:self|\d+)\/environ/;
const FORM = /[A-Za-z0-9+/]{100,}={0,2}/;

/** Whether what a call does leaves the machine, as far as its tool says. `undefined`: it says nothing. */
export function leavesMachine(effects: CallEffects | undefined): boolean | undefined {
  if (effects === undefined) return undefined;
  if ((effects.hosts ?? []).length > 0) return true;
  const commands = (effects.commands ?? []).filter(({ readOnly }) => readOnly !== true).map(({ text }) => text);
  if (commands.some((text) => SENDS.test(text) || ADDRESS.test(text) || /\/dev\/(?:tcp|udp)\//.test(text))) return true;
  // What can't be read may send: it is for the rules to ask about it, and here it counts as sending.
  return (effects.unknown ?? []).length > 0;
}

/** What a text that leaves the machine would carry away. */
export function findExfiltration(text: string, redactor: Redactor, hosts: readonly string[] = []): readonly Exfiltration[] {
  const found: Exfiltration[] = [];
  const kinds = new Set(redactor.find(text).map(({ kind }) => kind));
  for (const kind of kinds) found.push({ type: "secret", reason: `It holds a secret (${kind}).` });
  const { texts, isWhole } = decodedTexts(text);
  const encoded = new Set(texts.flatMap((decoded) => redactor.find(decoded).map(({ kind }) => kind)));
  for (const kind of encoded)
    if (!kinds.has(kind)) found.push({ type: "encoded-secret", reason: `It holds a secret (${kind}) in an encoded form.` });
  if (!isWhole) found.push({ type: "too-much", reason: "It is too long, or holds too much that is encoded, to be looked through whole." });
  if (VARIABLE.test(text) || ENVIRONMENT.test(text))
    found.push({ type: "secret-variable", reason: "It sends what stands in variables of the environment that hold secrets." });
  for (const reason of dataInAddresses(text))
    found.push({ type: reason.startsWith("The name") ? "data-in-name" : "data-in-address", reason });
  if (ADDRESS.test(text) && FORM.test(text) && !found.some(({ type }) => type === "data-in-address"))
    found.push({ type: "data-in-address", reason: "It names an address and holds a long run of encoded data." });
  for (const name of namesIn(text, hosts)) {
    const reason = dataInName(name);
    if (reason !== undefined && !found.some((other) => other.reason === reason)) found.push({ type: "data-in-name", reason });
  }
  return found;
}

function namesIn(text: string, hosts: readonly string[]): Iterable<string> {
  return new Set([...hosts, ...[...text.matchAll(/(?:[A-Za-z0-9_-]{1,63}\.){2,12}[A-Za-z]{2,24}\b/g)].map(([name]) => name)]);
}
