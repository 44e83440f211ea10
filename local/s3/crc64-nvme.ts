/**
 * CRC-64/NVME: reflected polynomial 0x9a6c9329ac4bc9b5, all ones before and after (NVM Express NVM Command Set
 * Specification 1.0, section 5.2.1.3.4). Each entry of the table is kept as two halves, because numbers have
 * only 53 whole bits and BigInt is slow.
 */
const polynomialHigh = 0x9a6c9329;
const polynomialLow = 0xac4bc9b5;

const tableHigh = new Uint32Array(256);
const tableLow = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit++) {
    const odd = low & 1;
    low = ((low >>> 1) | (high << 31)) >>> 0;
    high >>>= 1;
    if (odd) {
      high ^= polynomialHigh;
      low ^= polynomialLow;
    }
  }
  tableHigh[byte] = high;
  tableLow[byte] = low;
}

export function createCrc64Nvme() {
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update(data: Buffer): void {
      for (const byte of data) {
        const index = (low ^ byte) & 0xff;
        low = (((low >>> 8) | (high << 24)) ^ tableLow[index]!) >>> 0;
        high = ((high >>> 8) ^ tableHigh[index]!) >>> 0;
      }
    },
    digest(): Buffer {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(~high >>> 0, 0);
      bytes.writeUInt32BE(~low >>> 0, 4);
      return bytes;
    },
  };
}
