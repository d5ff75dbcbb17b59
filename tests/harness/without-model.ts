/** Settings of a hub whose texts are found by their words alone: where meaning is not the subject, no model starts for it. */
export const WITHOUT_MODEL = {
  'search.embeddings.endpoint': 'http://127.0.0.1:9/v1',
  'search.embeddings.model': 'none',
};
