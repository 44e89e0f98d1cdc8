/** Programs to read and to copy from; each is run by a test. */
package io.millrace.examples;
