/** The programs of the pages in docs/howto; each is run by a test. */
package io.millrace.examples.howto;
