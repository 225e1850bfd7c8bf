/** Bytes as base64, with padding. Written out, since no platform's function is known here. */
export const base64Of = (bytes: Uint8Array): string => {
  let text = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const [first = 0, second, third] = bytes.subarray(index, index + 3);
    const group = (first << 16) | ((second ?? 0) << 8) | (third ?? 0);
    text += letter(group >> 18) + letter(group >> 12);
    text += second === undefined ? "=" : letter(group >> 6);
    text += third === undefined ? "=" : letter(group);
  }
  return text;
};

const letter = (bits: number): string => alphabet.charAt(bits & 63);

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
