export type ChildEnvironment = { readonly [name: string]: string };

// Names under which secrets are kept by convention: OPENAI_API_KEY, GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY, DB_PASSWORD.
const SECRET_NAME = /(^|_)(API_?KEY|SECRET_?KEY|ACCESS_?KEY|PRIVATE_?KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;

/** True when a variable of this name is taken for a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The variables of `inherited` without those that look like secrets, except the ones named in `pass`. */
export function withoutSecrets(
  inherited: { readonly [name: string]: string | undefined },
  pass: readonly string[] | "all",
): ChildEnvironment {
  const kept: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && (pass === "all" || pass.includes(name) || !isSecretName(name))) kept[name] = value;
  }
  return kept;
}

const NEEDED = ["PATH", "HOME", "TMPDIR"];

/** What a program that is given nothing else is still started with: where programs are, its home, and where temporary files go. */
export function neededToRun(inherited: { readonly [name: string]: string | undefined }): ChildEnvironment {
  return Object.fromEntries(NEEDED.flatMap((name) => (inherited[name] === undefined ? [] : [[name, inherited[name]]])));
}
