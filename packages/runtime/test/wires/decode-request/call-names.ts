import type { CallId } from "@keelson/protocol";

/** Our ids of the calls, by the vendor's; and their names, which results lack on most wires. */
export class CallNames {
  readonly #byVendorId = new Map<string, { readonly id: CallId; readonly name: string }>();
  readonly #open: { readonly id: CallId; readonly name: string }[] = [];
  #count = 0;

  call(vendorId: string, name: string): CallId {
    const id = `c_${this.#count++}` as CallId;
    if (vendorId !== "") this.#byVendorId.set(vendorId, { id, name });
    this.#open.push({ id, name });
    return id;
  }

  result(vendorId: string): { readonly id: CallId; readonly name: string } {
    return this.#byVendorId.get(vendorId) ?? { id: `c_unknown_${vendorId}` as CallId, name: "unknown" };
  }

  /** Wires without ids answer in order. */
  resultOf(name: string): { readonly id: CallId; readonly name: string } {
    const at = this.#open.findIndex((call) => name === "" || call.name === name);
    return at < 0 ? { id: `c_unknown_${name}` as CallId, name } : (this.#open.splice(at, 1)[0] as { id: CallId; name: string });
  }
}
