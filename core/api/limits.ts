/** The longest body that the API takes; a description of 5000 characters is the most that anybody needs. */
export const bodyBytesMax = 64 * 1024;
