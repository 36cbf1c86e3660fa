// What this package needs of the platform, so that it compiles with `types: []` and no DOM library.
// Never published as a global: consumers bring their own (lib.dom or @types/node), with which these merge.
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
