package io.millrace.console;

import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Many connections to a port, from a process of its own, until it is destroyed. */
final class Crowd {
    private Crowd() {}

    public static void main(String[] args) throws Exception {
        List<Socket> sockets = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            sockets.add(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])));
        }
        System.out.println(sockets.size());
        System.in.read();
    }
}
