/** As much of `TextDecoder` as the host uses, which every platform has: this package has the types of none. */
declare class TextDecoder {
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string;
}
