import { entropyOf } from "../../environment/secrets/looks-secret.ts";

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** Digests as they stand in addresses of commits, packages and images. */
const DIGEST = /^(?:sha(?:1|256|384|512)[-:])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;
const ADDRESS = /\b(?:https?|wss?|ftp):\/\/[^\s"'<>`\\]+/gi;

/** Why an address looks as if data stood in it, one sentence each. */
export function dataInAddresses(text: string): readonly string[] {
  const told = new Set<string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    const url = URL.parse(address.replace(/[.,;)\]}]+$/, ""));
    if (url === null) continue;
    const inName = dataInName(url.hostname);
    if (inName !== undefined) told.add(inName);
    const values = [...url.searchParams.values(), ...url.pathname.split("/"), url.hash.slice(1)];
    if (values.some((value) => isData(value))) told.add(`An address of ${url.hostname} has what looks like encoded data in it.`);
    if (url.search.length > 1500) told.add(`An address of ${url.hostname} has ${url.search.length} characters of data in its query.`);
  }
  return [...told];
}

/** Why the name of a host looks as if data stood in it: whoever resolves it sends that to the owner of the domain. */
export function dataInName(host: string): string | undefined {
  const labels = host.replace(/\.$/, "").split(".");
  const own = labels.slice(0, -2);
  const random = own.filter((label) => label.length >= 20 && !UUID.test(label) && isRandom(label.replaceAll("-", "")));
  const isLong = own.join("").length > 90 && own.some((label) => label.length > 30);
  if (random.length === 0 && !isLong) return undefined;
  return `The name of a host under ${labels.slice(-2).join(".")} looks as if data stood in it.`;
}

/** Encoded data, rather than an identifier, a digest or words. */
function isData(value: string): boolean {
  if (value.length < 48 || UUID.test(value) || DIGEST.test(value)) return false;
  const run = /[A-Za-z0-9+/_-]{48,}={0,2}/.exec(value)?.[0];
  return run !== undefined && isRandom(run) && !DIGEST.test(run);
}

/** Letters and digits without order. Words that are joined have few digits and repeat their letters. */
function isRandom(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, "").length;
  const changes = [...text].filter((character, index) => index > 0 && kindOf(character) !== kindOf(text.charAt(index - 1))).length;
  return digits >= 2 && changes / text.length >= 0.15 && entropyOf(text) >= (/^[0-9a-f]+$/i.test(text) ? 2.7 : 3.4);
}

function kindOf(character: string): string {
  return /[0-9]/.test(character) ? "digit" : /[A-Z]/.test(character) ? "capital" : /[a-z]/.test(character) ? "letter" : "other";
}
