package io.millrace.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Notes in files: what {@link ServerSocketNotes} and {@link DirectNotes} serve. It reads and writes files, so it blocks its thread. */
record Notes(Path folder) {
    /** {@code NAME} reads a note, {@code NAME TEXT} writes it. */
    String answer(String line) throws IOException {
        String[] words = line.split(" ", 2);
        if (!words[0].matches("[a-z]{1,20}")) {
            return "a name has 1 to 20 letters";
        }
        Path note = folder.resolve(words[0]);
        if (words.length == 2) {
            Files.writeString(note, words[1]);
            return "kept";
        }
        return Files.exists(note) ? Files.readString(note) : "no such note";
    }
}
