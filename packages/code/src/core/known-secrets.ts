import { createCommandEnvironment } from "keelson/environment";
import { createRedactor, type Redactor } from "keelson/security";

/** The secrets that this process knows: those of its environment, and the configured keys. Nothing else is taken out of texts. */
export interface KnownSecrets {
  /** Puts `[REDACTED:NAME]` in the place of each. */
  readonly redactor: Redactor;
  /** The names of those that it knows by now. */
  names(): ReadonlySet<string>;
  /** Adds a key, of which only what looks like one is looked for. */
  learn(name: string, value: string): void;
}

export function createKnownSecrets(environment: { readonly [name: string]: string | undefined }): KnownSecrets {
  const { secrets } = createCommandEnvironment(environment);
  const names = new Set(secrets.map(({ name }) => name));
  const redactor = createRedactor({ secrets, vendors: false });
  return {
    redactor,
    names: () => names,
    learn(name, value) {
      // A key such as "none" is part of too many other texts.
      for (const secret of createCommandEnvironment({ [`${name}_KEY`]: value }).secrets) {
        redactor.learn(secret.value, name);
        names.add(name);
      }
    },
  };
}
